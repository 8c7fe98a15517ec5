/** The part of a string that the search reads. */
export type Characters = { readonly length: number; charCodeAt(index: number): number }

export type Passages = {
  /** How often the passage occurs. Overlapping occurrences count too: they are just as ambiguous. */
  readonly count: number
  /** Where the first one begins; -1 if there is none. */
  readonly first: number
  /** The line numbers of the first occurrences. */
  readonly lines: readonly number[]
}

const lineFeed = 10

/**
 * Finds all occurrences of a passage in linear time (Knuth-Morris-Pratt). `indexOf` can take quadratic time, and so can
 * a search that starts again after each occurrence.
 */
export function findPassages(text: Characters, passage: Characters, linesListedMax: number): Passages {
  const borders = bordersOf(passage)
  const lines: number[] = []
  let count = 0
  let first = -1
  let matched = 0
  let line = 1 // of the character after the last one that was counted
  let counted = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && passage.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (passage.charCodeAt(matched) === unit) matched++
    if (matched < passage.length) continue
    const start = at + 1 - passage.length
    if (count === 0) first = start
    count++
    if (lines.length < linesListedMax) {
      for (; counted < start; counted++) if (text.charCodeAt(counted) === lineFeed) line++
      lines.push(line)
    }
    matched = borders[matched - 1] ?? 0
  }
  return { count, first, lines }
}

/** Returns, for each prefix, the length of its longest proper prefix that is also its suffix. */
function bordersOf(passage: Characters): Int32Array {
  const borders = new Int32Array(passage.length)
  let length = 0
  for (let at = 1; at < passage.length; at++) {
    const unit = passage.charCodeAt(at)
    while (length > 0 && passage.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0
    if (passage.charCodeAt(length) === unit) length++
    borders[at] = length
  }
  return borders
}
