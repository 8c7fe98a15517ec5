import type { Query, Term } from './query.ts'
import { fold, type Words, wordsOf } from './words.ts'

/** Returns a test whether a text matches a query. It gives the answer that the index gives. */
export function createMatcher(query: Query): (text: string) => boolean {
  // A cheap first check without false negatives: most texts are rejected before they are split into words.
  const required = query.map(({ words, parts }) => [words, parts ?? words] as const)
  return (text) => {
    const folded = fold(text)
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
