import { clip } from '@holdfast/protocol/text-of'
import type { Query, Term } from './query.ts'
import { normalizeText, type Words, wordsOf } from './words.ts'

/** Returns a test whether a text matches a query. It gives the answer that the index gives. */
export function createMatcher(query: Query): (text: string) => boolean {
  // A cheap first check without false negatives: most texts are rejected before they are split into words.
  const required = query.map(({ words, parts }) => [words, parts ?? words] as const)
  return (text) => {
    const folded = normalizeText(text)
    const mayMatch = required.every((alternatives) =>
      alternatives.some((words) => words.every((word) => folded.includes(word))),
    )
    if (!mayMatch) return false
    const words = wordsOf(text)
    return query.every((term) => hasTerm(words, term))
  }
}

function hasTerm({ text, parts }: Words, term: Term): boolean {
  const { words, isPrefix, isExact } = term
  if (hasPhrase(text, words, isPrefix)) return true
  if (isExact) return false
  return hasPhrase(parts, words, isPrefix) || (term.parts !== null && hasPhrase(parts, term.parts, isPrefix))
}

const hasPhrase = (line: string, phrase: readonly string[], isPrefix: boolean): boolean =>
  ` ${line} `.includes(` ${phrase.join(' ')}${isPrefix ? '' : ' '}`)

/** Only the beginning counts: a thousand messages must be scored in a few milliseconds. */
const scoredCharsMax = 4096
const occurrencesMax = 12
/** The length of an average message. */
const averageChars = 1000
const adjacentBonus = 400

/** Returns how well a text matches. Each further occurrence adds less, and less in a long text. */
export function scoreOf(text: string, query: Query): number {
  const folded = normalizeText(clip(text, scoredCharsMax))
  const lengthFactor = 1.2 * (0.25 + (0.75 * folded.length) / averageChars)
  let score = 0
  for (const { written } of query) {
    const count = countOf(folded, written)
    score += (1000 * count) / (count + lengthFactor)
  }
  if (query.length > 1 && folded.includes(query.map(({ written }) => written).join(' '))) score += adjacentBonus
  return Math.round(score)
}

function countOf(text: string, written: string): number {
  let count = 0
  for (
    let at = text.indexOf(written);
    at >= 0 && count < occurrencesMax;
    at = text.indexOf(written, at + written.length)
  ) {
    if (!isWithinWord(text, at)) count += 1
  }
  return count
}

/** Returns whether the word at this position began before it. */
function isWithinWord(text: string, at: number): boolean {
  return isWordChar(text.charCodeAt(at - 1)) && isWordChar(text.charCodeAt(at))
}

const isWordChar = (unit: number): boolean => (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || unit === 95

const snippetCharsMax = 160
const beforeCharsMax = 60
/** Runs of spaces are collapsed, so more is cut out than is shown. */
const cutCharsMax = 600
const foldedCharsMax = 20_000

/** Returns the text around the first match, on one line, without control characters. */
export function snippetOf(text: string, query: Query): string {
  const found = findFirst(text, query)
  const hasLead = found > 0
  const before = oneLine(text.slice(Math.max(0, found - cutCharsMax), found))
  const lead = hasLead ? clipStart(before.trimStart(), beforeCharsMax) : ''
  const isCut = lead.length < before.trimStart().length || found > cutCharsMax
  const room = snippetCharsMax - lead.length
  const rest = oneLine(text.slice(found, found + cutCharsMax)).trimEnd()
  const tail = clip(rest, room)
  const goesOn = tail.length < rest.length || found + cutCharsMax < text.length
  return `${isCut ? '…' : ''}${lead}${tail}${goesOn ? '…' : ''}`.trim()
}

/** Returns the position of the first match, or 0 if only the index matches its form. */
function findFirst(text: string, query: Query): number {
  const lower = text.toLowerCase()
  for (const needle of needlesOf(query)) {
    const index = lower.length === text.length ? lower.indexOf(needle) : -1
    if (index >= 0) return index
  }
  if (text.length > foldedCharsMax) return 0
  const { folded, positions } = foldWithPositions(text)
  for (const needle of needlesOf(query)) {
    const index = folded.indexOf(needle)
    if (index >= 0) return positions[index] ?? 0
  }
  return 0
}

/** Returns the terms as written, then their words, then the parts of names. */
const needlesOf = (query: Query): readonly string[] => [
  ...query.map(({ written }) => written),
  ...query.flatMap(({ words }) => words),
  ...query.flatMap(({ parts }) => parts ?? []),
]

/** Folding may change lengths, so this also returns the original position of each folded code unit. */
function foldWithPositions(text: string): { readonly folded: string; readonly positions: readonly number[] } {
  const positions: number[] = []
  let folded = ''
  let index = 0
  for (const char of text) {
    const more = normalizeText(char)
    folded += more
    for (let unit = 0; unit < more.length; unit += 1) positions.push(index)
    index += char.length
  }
  return { folded, positions }
}

const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(
      /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu,
      '',
    )
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

/** Returns the last characters without splitting a surrogate pair. */
function clipStart(text: string, max: number): string {
  const end = text.slice(-max)
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}
