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

/**
 * Stands before the rest of a broken line of a diff, where its number or sign would: the rest cannot pass for a line of the
 * diff, with or without colour.
 */
export const continuedMark = '↳'

/**
 * Breaks a text into rows of at most `width` columns, after a space where there is one. The rows joined are the text again: for
 * text whose every space counts.
 */
export function breakText(text: string, width: number): readonly string[] {
  if (cellWidth(text) <= width) return [text]
  const all = graphemesOf(text)
  const rows: string[] = []
  let from = 0
  let used = 0
  let afterSpace = 0 // where the last word that could begin a row begins
  for (let at = 0; at < all.length; at++) {
    const cells = graphemeWidth(all[at] ?? '')
    if (all[at] !== ' ' && all[at - 1] === ' ') afterSpace = at
    if (used + cells > width && at > from) {
      const end = afterSpace > from ? afterSpace : at
      rows.push(all.slice(from, end).join(''))
      from = end
      used = cellWidth(all.slice(from, at).join(''))
    }
    used += cells
  }
  return [...rows, all.slice(from).join('')]
}

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
