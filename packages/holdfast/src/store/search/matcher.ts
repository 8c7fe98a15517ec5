import type { Query, Term } from './query.ts'
import { fold, type Words, wordsOf } from './words.ts'

/** Tells which texts have all that is asked, by reading them: what an index would answer, without one. */
export function createMatcher(query: Query): (text: string) => boolean {
  // Cheap and never wrong about a text that has it: most texts are done with before they are split into words.
  const musts = query.map(({ words, parts }) => [words, parts ?? words] as const)
  return (text) => {
    const folded = fold(text)
    const mayHave = musts.every((ways) => ways.some((words) => words.every((word) => folded.includes(word))))
    if (!mayHave) return false
    const words = wordsOf(text)
    return query.every((term) => hasTerm(words, term))
  }
}

function hasTerm({ text, parts }: Words, term: Term): boolean {
  const { words, isPrefix, isExact } = term
  if (hasRun(text, words, isPrefix)) return true
  if (isExact) return false
  return hasRun(parts, words, isPrefix) || (term.parts !== null && hasRun(parts, term.parts, isPrefix))
}

const hasRun = (line: string, run: readonly string[], isPrefix: boolean): boolean =>
  ` ${line} `.includes(` ${run.join(' ')}${isPrefix ? '' : ' '}`)
