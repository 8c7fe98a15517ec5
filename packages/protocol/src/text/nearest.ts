const wantedCharsMax = 100

/** Returns the name most similar to `wanted`, or null when none is close: a wrong guess is worse than none. */
export function nearest(wanted: string, names: readonly string[]): string | null {
  if (wanted.length > wantedCharsMax) return null
  let best: string | null = null
  let bestDistance = Math.max(wanted.length < 4 ? 1 : 2, Math.floor(wanted.length / 3)) + 1
  for (const name of names) {
    const far = distance(wanted, name)
    if (
      far < bestDistance ||
      (far === bestDistance && best !== null && likeness(wanted, name) > likeness(wanted, best))
    ) {
      best = name
      bestDistance = far
    }
  }
  return best ?? names.find((name) => wanted.length > 1 && name.startsWith(wanted)) ?? null
}

/** Compares names of the same distance: letters were left out more often than mistaken, and swapped more often than added. */
function likeness(wanted: string, name: string): number {
  let at = 0
  for (const char of name) if (char === wanted[at]) at++
  if (at === wanted.length) return 2
  return name.length === wanted.length ? 1 : 0
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
