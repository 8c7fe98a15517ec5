import type { Query, Term } from '../../search/query.ts'
import { isUnspaced, wordsOf } from '../../search/words.ts'

/** Returns every word of a text, of the parts of its names, and the pairs of neighbours in scripts without spaces. */
export function indexedWords(text: string): readonly string[] {
  const words = wordsOf(text)
  const all = words.text === '' ? [] : words.text.split(' ')
  const parts = words.parts === '' ? [] : words.parts.split(' ')
  return [...new Set([...all, ...pairsOf(all), ...parts])]
}

/** A pair narrows a phrase of single characters: each alone is in many texts. No word equals a pair. */
function* pairsOf(words: readonly string[]): Iterable<string> {
  let previous: string | null = null
  for (const word of words) {
    const single = word.length <= 2 && isUnspaced(word) ? word : null
    if (previous !== null && single !== null) yield `${previous}${single}`
    previous = single
  }
}

/**
 * Writes a query as a tsquery. It matches every text that the query matches, and some more if `isExact` is false: the order
 * of words in a phrase, and whether a word is part of a longer name, are not in the index.
 */
export function toTsquery(query: Query): { readonly expression: string; readonly isExact: boolean } {
  return {
    expression: [...new Set(query.map(termExpression))].join(' & '),
    isExact: query.every(({ words, isExact, parts }) => words.length === 1 && !isExact && parts === null),
  }
}

function termExpression({ words, isPrefix, parts }: Term): string {
  const anywhere = allOf(
    [...words, ...pairsOf(isPrefix ? words.slice(0, -1) : words)],
    isPrefix ? words.at(-1) : undefined,
  )
  return parts === null ? anywhere : `(${anywhere} | ${allOf(parts, isPrefix ? parts.at(-1) : undefined)})`
}

/** Requires all words; `prefix` may go on. */
function allOf(words: readonly string[], prefix: string | undefined): string {
  const required = [...new Set(words)].map((word) => (word === prefix ? `${quote(word)}:*` : quote(word)))
  return `(${required.join(' & ')})`
}

const quote = (word: string): string => `'${word.replaceAll(/['\\]/g, '$&$&')}'`
