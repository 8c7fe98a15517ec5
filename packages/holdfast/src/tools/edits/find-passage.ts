/** The part of a string that the search reads. Also a list of numbers can be searched in this form. */
export type Characters = { readonly length: number; charCodeAt(index: number): number }

export type Passages = {
  /** How often the passage occurs. Overlapping occurrences count too: they are just as ambiguous. */
  readonly count: number
  /** Where the first ones begin. */
  readonly starts: readonly number[]
}

/** Finds all occurrences of a passage in linear time. */
export function findPassages(text: Characters, passage: Characters, startsMax: number): Passages {
  const starts: number[] = []
  let count = 0
  scanPassages(text, passage, (start) => {
    count++
    if (starts.length < startsMax) starts.push(start)
  })
  return { count, starts }
}

/** Whether a text has a passage. `includes` of a long text can take quadratic time. */
export const holdsPassage = (text: Characters, passage: Characters): boolean =>
  passage.length === 0 || findPassages(text, passage, 0).count > 0

/**
 * Returns where a passage occurs, from the left, without overlaps, in linear time: at most `max` places, as offsets in a
 * typed array, because a list of millions of numbers can end the process. Null if there are more.
 */
export function findDisjoint(text: Characters, passage: Characters, max: number): Int32Array | null {
  const starts = new Int32Array(Math.min(max, Math.floor(text.length / Math.max(1, passage.length))))
  let [count, end] = [0, 0]
  scanPassages(text, passage, (start) => {
    if (start < end) return
    if (count < max) starts[count] = start
    count++
    end = start + passage.length
  })
  return count > max ? null : starts.subarray(0, count)
}

/** A short text is found by `indexOf` in linear time, and much faster than character by character. */
const headCharsMax = 32

/**
 * Calls `found` for each occurrence of a passage, also for overlapping ones, in linear time (Knuth-Morris-Pratt).
 * `indexOf` of a long text can take quadratic time, and so can a search that starts again after each occurrence.
 */
export function scanPassages(text: Characters, passage: Characters, found: (start: number) => void): void {
  if (passage.length === 0 || passage.length > text.length) return
  const borders = bordersOf(passage)
  const head = typeof passage === 'string' ? passage.slice(0, headCharsMax) : ''
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    if (matched === 0 && typeof text === 'string' && head !== '') {
      at = text.indexOf(head, at)
      if (at === -1) return
    }
    const unit = text.charCodeAt(at)
    while (matched > 0 && passage.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (passage.charCodeAt(matched) === unit) matched++
    if (matched < passage.length) continue
    found(at + 1 - passage.length)
    matched = borders[matched - 1] ?? 0
  }
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
