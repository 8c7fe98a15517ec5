/** Lets the last word be the beginning of one, as a person who still types means it. */
export const withBeginning = (text: string): string => (/[\p{L}\p{N}_]{2}$/u.test(text) ? `${text}*` : text)

/** Splits a snippet at the words of a search. Every second part is a match. */
export function splitAtWords(snippet: string, search: string): readonly string[] {
  const words = search.match(/[\p{L}\p{N}_]+/gu) ?? []
  if (words.length === 0) return [snippet]
  return snippet.split(new RegExp(`(${words.join('|')})`, 'giu'))
}
