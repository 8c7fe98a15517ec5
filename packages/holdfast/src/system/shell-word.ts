import { escapeLine } from '@holdfast/protocol/hostile-text'

/** Quotes a word for a command that the user is told to type. */
export function shellWord(word: string): string {
  const shown = escapeLine(word)
  return /^[\w./@:+-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
