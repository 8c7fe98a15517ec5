import { cellWidth, graphemesOf, graphemeWidth } from './cell-width.ts'
import { lineWidth, type Span, type StyledLine } from './lines.ts'

/** A word or the space between two words, in the pieces of one or more styles. */
type Word = { readonly spans: readonly Span[]; readonly width: number; readonly isSpace: boolean }

/**
 * Breaks a line at its spaces into rows of at most `width` columns. A longer word is broken anywhere. Continued rows begin
 * with `indent`.
 */
export function wrapLine(one: StyledLine, width: number, indent: StyledLine = []): readonly StyledLine[] {
  const room = Math.max(1, width)
  if (lineWidth(one) <= room) return [one]
  const indentWidth = Math.min(lineWidth(indent), room - 1)
  const rows: Span[][] = []
  let row: Span[] = []
  let used = 0
  const start = () => {
    rows.push(row)
    row = indentWidth > 0 ? [...indent] : []
    used = indentWidth
  }
  for (const word of wordsOf(one)) {
    if (used + word.width <= room) {
      row.push(...word.spans)
      used += word.width
    } else if (word.isSpace) {
      if (used > indentWidth) start() // a space at the end of a row is not shown
    } else if (word.width <= room - indentWidth) {
      start()
      row.push(...word.spans)
      used += word.width
    } else {
      for (const { text, style } of word.spans)
        for (const grapheme of graphemesOf(text)) {
          const cells = graphemeWidth(grapheme)
          if (used + cells > room) start()
          row.push({ text: grapheme, style })
          used += cells
        }
    }
  }
  rows.push(row)
  return rows.map(joinSpans)
}

/** Wraps each line of a text in one style. */
export const wrapText = (text: string, width: number, style = '', indent: StyledLine = []): readonly StyledLine[] =>
  text.split('\n').flatMap((one) => wrapLine(one === '' ? [] : [{ text: one, style }], width, indent))

function wordsOf(one: StyledLine): readonly Word[] {
  const words: { spans: Span[]; width: number; isSpace: boolean }[] = []
  for (const { text, style } of one)
    for (const [piece] of text.matchAll(/ +|[^ ]+/g)) {
      const isSpace = piece.startsWith(' ')
      const last = words.at(-1)
      if (last && last.isSpace === isSpace) {
        last.spans.push({ text: piece, style })
        last.width += cellWidth(piece)
      } else words.push({ spans: [{ text: piece, style }], width: cellWidth(piece), isSpace })
    }
  return words
}

/** Joins neighbours with the same style. */
function joinSpans(spans: readonly Span[]): StyledLine {
  const joined: Span[] = []
  for (const one of spans) {
    const last = joined.at(-1)
    if (last && last.style === one.style) joined[joined.length - 1] = { text: last.text + one.text, style: one.style }
    else joined.push(one)
  }
  return joined
}
