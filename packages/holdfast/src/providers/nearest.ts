/** The name that takes the fewest changes to become `wanted`: what a person most likely meant. */
export function nearest(wanted: string, names: readonly string[]): string | null {
  const ranked = names
    .map((name) => ({ name, far: distance(wanted, name) }))
    .sort((left, right) => left.far - right.far)
  return ranked[0]?.name ?? null
}

/** Insertions, deletions and replacements between two short names. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, char] of [...from].entries()) {
    const next = [at + 1]
    for (let index = 1; index <= to.length; index++) {
      const replaced = (row[index - 1] ?? 0) + (to[index - 1] === char ? 0 : 1)
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
