import { cellWidth } from '../tui/term/cell-width.ts'

/** Breaks a text at its spaces into lines of at most `width` columns. A longer word has a line of its own. */
export function wrapWords(text: string, width: number): readonly string[] {
  const broken: string[] = []
  for (const word of text.split(' ')) {
    const line = broken.at(-1)
    if (line === undefined || cellWidth(line) + 1 + cellWidth(word) > width) broken.push(word)
    else broken[broken.length - 1] = `${line} ${word}`
  }
  return broken
}
