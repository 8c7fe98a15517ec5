import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { fold, foldWord, isUnspaced, partsOf, splitWords } from './words.ts'

/** Something that must occur: a word, the beginning of one, or several in a row. */
export type Term = {
  readonly words: readonly string[]
  /** The last word may go on. */
  readonly isPrefix: boolean
  /** Only as it stands there, never a piece of a longer name. */
  readonly isExact: boolean
  /** The pieces of a name such as `userName`: they are looked for within longer names too. */
  readonly parts: readonly string[] | null
  /** The term as it was written, folded: what a text is judged and shown by. */
  readonly written: string
}

export type Query = readonly Term[]

const prefixCharsMin = 2
// A phrase in quotes, closed or not, with a star or without; else whatever stands between spaces.
const piecePattern = /"([^"]*)("\*?|$)|[^\s"]+/gu

/** Reads what a person wrote. Nothing but quotes and a star at the end of a word has a meaning. */
export function parseQuery(text: string): Result<Query> {
  const terms = new Map<string, Term>()
  for (const [piece, quoted, end] of text.matchAll(piecePattern)) {
    const term = termOf(quoted ?? piece, quoted !== undefined, end?.endsWith('*') === true)
    if (term !== null) terms.set(JSON.stringify(term), term)
  }
  const query = [...terms.values()]
  if (query.length === 0) return refuse(fault('bad_request', noWord))
  const short = query.find(({ words, isPrefix }) => isPrefix && (words.at(-1) ?? '').length < prefixCharsMin)
  return short === undefined ? ok(query) : refuse(fault('bad_request', tooShort(short), { term: short.written }))
}

function termOf(piece: string, isQuoted: boolean, isStarred: boolean): Term | null {
  const bare = piece.replace(/\*+$/, '')
  const written = splitWords(bare)
  const last = written.at(-1)
  if (last === undefined) return null
  // A star far from a word is no more than a star; and where each character is a word, none goes on.
  const isPrefix = (isStarred || bare !== piece) && bare.normalize('NFKC').endsWith(last) && !isUnspaced(last)
  const parts = written.length === 1 && !isQuoted ? partsOf(last) : null
  return {
    words: written.map(foldWord),
    isPrefix,
    isExact: isQuoted || written.length > 1,
    parts: parts !== null && parts.length > 1 ? parts : null,
    written: fold(bare).trim(),
  }
}

const noWord = 'There is no word in that text to search for. Write at least one letter or digit.'
const tooShort = ({ written }: Term): string =>
  `“${written}*” fits too much. Write at least ${prefixCharsMin} characters before the star.`
