import type { Query, Term } from '../../search/query.ts'

/** A query, narrowed to those that have one word of each group, in the language of FTS5. Every word stands in quotes. */
export const searchExpression = (query: Query, groups: readonly (readonly string[])[]): string =>
  [...query.map(termExpression), ...groups.map((words) => `(${words.map(quoted).join(' OR ')})`)].join(' AND ')

function termExpression({ words, isPrefix, isExact, parts }: Term): string {
  if (isExact) return `text : ${phrase(words, isPrefix)}`
  const anywhere = phrase(words, isPrefix)
  return parts === null ? anywhere : `(${anywhere} OR parts : ${phrase(parts, isPrefix)})`
}

const phrase = (words: readonly string[], isPrefix: boolean): string =>
  `${words.map(quoted).join(' + ')}${isPrefix ? ' *' : ''}`

/** No word has a quote in it: it is made of letters, digits, marks and underscores. */
const quoted = (word: string): string => `"${word}"`
