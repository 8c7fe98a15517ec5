import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { foldWord, isUnspaced, normalizeText, partsOf, splitWords } from './words.ts'

/** A required term: a word, a prefix, or a phrase. */
export type Term = {
  readonly words: readonly string[]
  /** The last word is a prefix. */
  readonly isPrefix: boolean
  /** Matches whole words only, never a part of a longer name. */
  readonly isExact: boolean
  /** The parts of a name such as `userName`; they match within longer names too. */
  readonly parts: readonly string[] | null
  /** The term as written, folded: used for the score and the snippet. */
  readonly written: string
}

export type Query = readonly Term[]

const prefixCharsMin = 2
// A quoted phrase, closed or not, with or without a star; otherwise any text between spaces.
const piecePattern = /"([^"]*)("\*?|$)|[^\s"]+/gu

/** Parses the text of a search. Only quotes and a star at the end of a word are special. */
export function parseQuery(text: string): Result<Query> {
  const terms = new Map<string, Term>()
  for (const [piece, quoted, end] of text.matchAll(piecePattern)) {
    const term = parseTerm(quoted ?? piece, quoted !== undefined, end?.endsWith('*') === true)
    if (term !== null) terms.set(JSON.stringify(term), term)
  }
  const query = [...terms.values()]
  if (query.length === 0) return refuse(fault('bad_request', noWord))
  const short = query.find(({ words, isPrefix }) => isPrefix && (words.at(-1) ?? '').length < prefixCharsMin)
  return short === undefined ? ok(query) : refuse(fault('bad_request', tooShort(short), { term: short.written }))
}

function parseTerm(piece: string, isQuoted: boolean, isStarred: boolean): Term | null {
  const text = piece.replace(/(?<!\*)\*+$/, '')
  const written = splitWords(text)
  const last = written.at(-1)
  if (last === undefined) return null
  // A star that does not touch a word is ignored; so is one in scripts where each character is a word.
  const isPrefix = (isStarred || text !== piece) && text.normalize('NFKC').endsWith(last) && !isUnspaced(last)
  const parts = written.length === 1 && !isQuoted ? partsOf(last) : null
  return {
    words: written.map(foldWord),
    isPrefix,
    isExact: isQuoted || written.length > 1,
    parts: parts !== null && parts.length > 1 ? parts : null,
    written: normalizeText(text).trim(),
  }
}

const noWord = 'The search text contains no word. Use at least one letter or digit.'
const tooShort = ({ written }: Term): string =>
  `The prefix “${written}*” is too short. Use at least ${prefixCharsMin} characters before the star.`
