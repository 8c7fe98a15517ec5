import { clip, type Fault, fault, limits } from '@holdfast/protocol'
import { holdsPassage } from './find-passage.ts'
import { bodyOf, type Lines } from './lines.ts'

const windowLinesMax = 20
const lineCharsMax = 200

/** How many places a refusal names. */
export const placesNamedMax = 10

/** Refuses a passage with more than one place. `lines` are the first places, counted from 1. */
export function ambiguous(what: string, lines: readonly number[], count: number, more = ''): Fault {
  const named = lines.slice(0, placesNamedMax)
  const where = `at lines ${named.join(', ')}${count > named.length ? ', …' : ''}`
  const message = `${what} is found ${count} times, ${where}; include more of the surrounding lines${more}`
  return fault('ambiguous', message, { lines: named, count })
}

/** Refuses to replace a passage at so many places that the list of them would fill the memory. */
export const tooManyPlaces = (what: string): Fault =>
  fault('too_large', `${what} is found at more than ${limits.editPlacesMax} places; change fewer at a time`, {
    placesMax: limits.editPlacesMax,
  })

/** Refuses a change before the new text is built; null if it is not too long. */
export const refuseTooLong = (chars: number): Fault | null =>
  chars <= limits.editedFileBytesMax
    ? null
    : fault(
        'too_large',
        `the file would be ${chars} characters long, more than ${limits.editedFileBytesMax}; nothing was changed`,
        { chars, charsMax: limits.editedFileBytesMax },
      )

/** Refuses a passage that is not in the text, and shows the most similar place. Nothing similar is ever changed. */
export function noMatch(lines: Lines, what: string, block: readonly string[], hint = ''): Fault {
  const nearest = findNearest(lines, block)
  if (nearest === null) {
    const unlike = hint === '' ? 'nothing in the file is similar: read it again' : 'read the file again'
    const why = lines.count === 0 ? 'the file is empty' : unlike
    return fault('no_match', `${what} is not found${hint}; ${why}`)
  }
  const differing = block.findIndex((line, index) => line !== bodyAt(lines, nearest + index))
  const from = differing < windowLinesMax ? nearest : nearest + differing - windowLinesMax / 2
  const to = Math.min(lines.count, nearest + block.length, from + windowLinesMax)
  const window = Array.from({ length: Math.max(0, to - from) }, (_, index) => numbered(lines, from + index))
  const found = bodyAt(lines, nearest + differing)
  const message = [
    `${what} is not found${hint}. The nearest place is line ${nearest + 1}:`,
    ...window,
    `The first difference is at line ${nearest + differing + 1}:`,
    `  file:    ${found === null ? '(the file ends here)' : visible(found)}`,
    `  request: ${visible(block[differing] ?? '')}`,
  ].join('\n')
  return fault('no_match', message, { nearest: nearest + 1, line: nearest + differing + 1 })
}

export const alreadyApplied = (what: string): Fault =>
  fault('already_applied', `${what} seems to be done already: the new text is there, and the old text is not`)

/** The shortest text that is hardly anywhere by chance. */
export const tellingCharsMin = 10

/**
 * Whether it means that an edit is done if its new text is there. A short word is there anyway, and so is what the old text
 * has too, as when lines are only removed.
 */
export function isTelling(newText: string, oldText: string): boolean {
  const [next, old] = [newText, oldText].map((text) => text.replaceAll('\r\n', '\n').trim())
  if (next === undefined || old === undefined || next === '' || holdsPassage(old, next)) return false
  return next.includes('\n') || next.length >= tellingCharsMin
}

const bodyAt = (lines: Lines, line: number): string | null =>
  line < 0 || line >= lines.count ? null : bodyOf(lines, line)

const numbered = (lines: Lines, line: number) => `${line + 1}\t${clip(bodyOf(lines, line), lineCharsMax)}`

/** Shows blanks that cannot be seen: a dot for a space, an arrow for a tab. */
const visible = (line: string) =>
  clip(line, lineCharsMax).replaceAll('\t', '→').replaceAll(' ', '·').replaceAll('\r', '␍')

const repeatsMax = 8
const wordsBytesMax = 1024 * 1024

/**
 * Returns the line at which most lines of a block stand in their places; null if none does. Without an equal line, the
 * line with most words of the block's longest line. Takes linear time.
 */
function findNearest(lines: Lines, block: readonly string[]): number | null {
  const places = new Map<string, number[]>()
  for (const [index, line] of block.entries()) {
    const key = line.trim()
    const known = places.get(key)
    if (key === '') continue
    if (known === undefined) places.set(key, [index])
    else if (known.length < repeatsMax) known.push(index)
  }
  const votes = new Int32Array(lines.count + block.length)
  let best = -1
  for (let line = 0; line < lines.count; line++)
    for (const index of places.get(bodyOf(lines, line).trim()) ?? []) {
      const start = line - index + block.length
      votes[start] = (votes[start] ?? 0) + 1
      if (best === -1 || (votes[start] ?? 0) > (votes[best] ?? 0)) best = start
    }
  if (best !== -1) return Math.max(0, best - block.length)
  return findByWords(lines, block)
}

function findByWords(lines: Lines, block: readonly string[]): number | null {
  if (lines.text.length > wordsBytesMax) return null
  const longest = block.reduce((one, other) => (other.trim().length > one.trim().length ? other : one), '')
  const words = new Set(wordsOf(longest))
  let [best, score] = [-1, 0]
  for (let line = 0; line < lines.count && words.size > 0; line++) {
    const shared = new Set(wordsOf(bodyOf(lines, line)).filter((word) => words.has(word))).size
    if (shared > score) [best, score] = [line, shared]
  }
  return best === -1 ? null : Math.max(0, best - block.indexOf(longest))
}

const wordsOf = (line: string): readonly string[] => line.match(/[\p{L}\p{N}_]{2,}/gu) ?? []
