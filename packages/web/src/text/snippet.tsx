import { splitAtWords } from './search-words.ts'

/** Marks the words of the search. */
export function Snippet({ text, search }: { readonly text: string; readonly search: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text
  return splitAtWords(text, search).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))
}
