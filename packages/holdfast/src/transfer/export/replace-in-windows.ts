/** How much text one match may begin in, how much of what follows it sees, and how much of what precedes it. */
const windowChars = 64 * 1024
export const aheadChars = 8 * 1024
const behindChars = 512

export type WindowRule = {
  /** Global. Its matches are short, except for a run of characters at their end. */
  readonly pattern: RegExp
  readonly replace: (match: string, first: string) => string
  /** The characters of the run at the end of a match: if it goes on behind a window, all of it is removed. */
  readonly tail?: RegExp | undefined
  /** Returns how much of a match that goes on behind its window is handled with it, if not all. */
  readonly cutAt?: ((match: string) => number) | undefined
  /** Returns how much text before a match belongs to it. */
  readonly before?: ((first: string) => number) | undefined
}

/**
 * Replaces the matches of a pattern, window by window: a pattern that sees a text of many megabytes at once can exhaust
 * the stack, and a list of all its matches the memory. Matches across the edge of a window are found too.
 */
export function replaceInWindows(text: string, rule: WindowRule): string {
  const windows: string[] = []
  let done = 0
  for (let from = 0; from < text.length; from = Math.max(from + windowChars, done)) {
    const { pieces, end } = replaceFrom(text, rule, from, done)
    if (pieces.length === 0) continue
    windows.push(pieces.join(''))
    done = end
  }
  return done === 0 ? text : windows.join('') + text.slice(done)
}

/** Replaces the matches that begin in one window. `pieces` hold the new text between `done` and `end`. */
function replaceFrom(text: string, rule: WindowRule, from: number, done: number) {
  const { pattern, replace, tail, cutAt, before } = rule
  const start = Math.max(0, from - behindChars)
  const seen = text.slice(start, from + windowChars + aheadChars)
  const isLast = start + seen.length >= text.length
  const pieces: string[] = []
  let end = done
  pattern.lastIndex = from - start
  for (let match = pattern.exec(seen); match !== null; match = pattern.exec(seen)) {
    const index = start + match.index
    if (index >= from + windowChars && !isLast) break
    let [whole] = match
    const first = match[1] ?? ''
    const isCut = !isLast && match.index + whole.length === seen.length
    if (isCut && cutAt) whole = whole.slice(0, cutAt(whole))
    const begin = Math.max(end, index - (before?.(first) ?? 0))
    if (before && begin === index) continue // what it begins with belongs to the match before it
    const replaced = replace(whole, first)
    pieces.push(text.slice(end, begin), replaced)
    end = index + whole.length
    pattern.lastIndex = end - start
    if (!isCut) continue
    if (tail && replaced.endsWith(']')) while (end < text.length && tail.test(text[end] ?? '')) end++
    break
  }
  pattern.lastIndex = 0
  return { pieces, end }
}
