const wantedCharsMax = 100

/** Returns the name most similar to `wanted`, or null when none is close: a wrong guess is worse than none. */
export function nearest(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > wantedCharsMax) return null
  let best: string | null = null
  let bestDistance = Math.max(wanted.length < 4 ? 1 : 2, Math.floor(wanted.length / 3)) + 1
  for (const name of names) {
    const far = distance(wanted, name)
    const isSwap =
      best !== null && far === bestDistance && name.length === wanted.length && best.length !== wanted.length
    if (far < bestDistance || isSwap) {
      best = name
      bestDistance = far
    }
  }
  return best ?? names.find((name) => wanted.length > 1 && name.startsWith(wanted)) ?? null
}

/** Returns ` Did you mean 'ls'?`, or an empty string. */
export function didYouMean(wanted: string, names: readonly string[]): string {
  const name = nearest(wanted, names)
  return name === null ? '' : ` Did you mean '${name}'?`
}

/** Returns the edit distance of two short names. Two swapped letters count as one edit. */
function distance(from: string, to: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, char] of [...from].entries()) {
    const next = [at + 1]
    for (let index = 1; index <= to.length; index++) {
      const replaced = (row[index - 1] ?? 0) + (to[index - 1] === char ? 0 : 1)
      const isSwapped = index > 1 && from[at - 1] === to[index - 1] && char === to[index - 2]
      const swapped = isSwapped ? (before[index - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}
