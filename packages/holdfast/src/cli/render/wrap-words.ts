import { stripVTControlCharacters } from 'node:util'
import { cellWidth } from '../tui/term/cell-width.ts'

/** Breaks a text at its spaces into lines of at most `width` columns. A longer word has a line of its own. */
export function wrapWords(text: string, width: number): readonly string[] {
  const broken: string[] = []
  for (const word of text.split(' ')) {
    const line = broken.at(-1)
    if (line === undefined || shownWidth(line) + 1 + shownWidth(word) > width) broken.push(word)
    else broken[broken.length - 1] = `${line} ${word}`
  }
  return broken
}

/**
 * Wraps sentences for a terminal at words; as they are if `columns` is null, because then no person reads them as lines. What
 * follows keeps the indent of its line. Not for what would run: a line break there would change its meaning.
 */
export function wrapSentences(text: string, columns: number | null): string {
  if (columns === null) return text
  return text
    .split('\n')
    .flatMap((line) => {
      if (shownWidth(line) <= columns) return [line]
      const [indent = ''] = /^ */.exec(line) ?? []
      return wrapWords(line.slice(indent.length), Math.max(1, columns - indent.length)).map((one) => indent + one)
    })
    .join('\n')
}

/** Colours take no room. */
const shownWidth = (text: string): number => cellWidth(stripVTControlCharacters(text))
