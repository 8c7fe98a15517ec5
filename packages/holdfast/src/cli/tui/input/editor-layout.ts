import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { graphemesOf, graphemeWidth } from '../term/cell-width.ts'
import { line, type StyledLine, shownProse } from '../term/lines.ts'
import type { CursorPlace } from '../term/painter.ts'
import type { Editor } from './editor.ts'

/** The rows of the input box and the place of the caret among them. */
export type EditorLayout = {
  readonly rows: readonly StyledLine[]
  readonly caret: CursorPlace
  /** For each row near the caret, shown or not, the index in the text of its first character. */
  readonly starts: readonly number[]
  /** The index of the first row that is shown. */
  readonly first: number
  /** About how many rows are above and below: a line that is far from the caret counts as one. */
  readonly above: number
  readonly below: number
}

/**
 * Lays the text out in rows of `width` columns, at most `height` of them around the caret. Hidden characters are shown as
 * escapes. Only the text near the caret is measured, so that a long text costs no more than a short one.
 */
export function layOutEditor({ text, caret }: Editor, width: number, height: number): EditorLayout {
  const from = nearestStart(text, caret, height)
  const until = nearestEnd(text, caret, height)
  const rows: string[] = []
  const starts: number[] = []
  let [row, used, start] = ['', 0, from]
  let place: CursorPlace = { row: 0, column: 0 }
  const push = (next: number) => {
    rows.push(row)
    starts.push(start)
    ;[row, used, start] = ['', 0, next]
  }
  let index = from
  const mark = () => {
    if (index === caret) place = { row: rows.length, column: used }
  }
  for (const grapheme of graphemesOf(text.slice(from, until))) {
    if (grapheme === '\n' || grapheme === '\r\n') {
      mark()
      push(index + grapheme.length)
    } else {
      const shown =
        grapheme === '\t'
          ? '    '
          : shownGrapheme(grapheme, text.slice(index + grapheme.length, index + grapheme.length + 2))
      const cells = shown === grapheme ? graphemeWidth(grapheme) : shown.length
      if (used + cells > width && used > 0) push(index)
      mark()
      row += shown
      used += cells
    }
    index += grapheme.length
  }
  mark()
  if (index === caret && used >= width) {
    push(index)
    place = { row: rows.length, column: 0 }
  }
  push(index)
  const near = { rows: rows.map((one) => line(one)), caret: place, starts }
  return cropped(near, height, { above: countLines(text.slice(0, from)), below: countLines(text.slice(until)) })
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Escapes a grapheme. A joiner at its end stays if the next character needs it. */
function shownGrapheme(grapheme: string, next: string): string {
  if (!/[\u200c\u200d]/.test(grapheme)) return escapeHidden(grapheme)
  const [shown, after] = [shownProse(grapheme + next), shownProse(next)]
  return shown.endsWith(after) ? shown.slice(0, shown.length - after.length) : escapeHidden(grapheme)
}

function cropped(
  { rows, caret, starts }: Pick<EditorLayout, 'rows' | 'caret' | 'starts'>,
  height: number,
  far: Pick<EditorLayout, 'above' | 'below'>,
): EditorLayout {
  const top = Math.max(0, Math.min(caret.row - height + 1, rows.length - height))
  const first = rows.length <= height ? 0 : Math.max(top, Math.min(caret.row, rows.length - height))
  const shown = rows.slice(first, first + height)
  return {
    rows: shown,
    starts,
    first,
    caret: { ...caret, row: caret.row - first },
    above: far.above + first,
    below: far.below + rows.length - first - shown.length,
  }
}

/** A part of a long text that has at least `height` lines before the caret, as far as there are some. */
const nearChars = 8000

const nearestStart = (text: string, caret: number, height: number): number => {
  let at = caret
  for (let lines = 0; lines <= height && at > 0; lines++) at = text.lastIndexOf('\n', at - 1)
  const start = Math.max(0, at + (at > 0 ? 1 : 0))
  return caret - start > nearChars ? caret - nearChars : start
}
const nearestEnd = (text: string, caret: number, height: number): number => {
  let at = caret
  for (let lines = 0; lines <= height; lines++) {
    const next = text.indexOf('\n', at)
    if (next === -1) return Math.min(text.length, caret + nearChars)
    at = next + 1
  }
  return Math.min(at, caret + nearChars)
}

/** Returns the caret one row up or down; null at the first or last row. */
export function moveByRow(editor: Editor, layout: EditorLayout, by: 1 | -1, width: number): Editor | null {
  const target = layout.first + layout.caret.row + by
  const start = layout.starts[target]
  if (start === undefined) return null
  const end = layout.starts[target + 1] ?? editor.text.length
  let used = 0
  let caret = start
  for (const grapheme of graphemesOf(editor.text.slice(start, end))) {
    const cells = grapheme === '\t' ? 4 : graphemeWidth(grapheme)
    if (grapheme === '\n' || used + cells > Math.min(layout.caret.column, width)) break
    used += cells
    caret += grapheme.length
  }
  return { ...editor, caret }
}
