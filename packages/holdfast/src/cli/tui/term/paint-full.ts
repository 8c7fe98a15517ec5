import { lineWidth, type StyledLine, toAnsi } from './lines.ts'
import { type CursorPlace, clearRest } from './painter.ts'

const csi = '\u001b['
/** The alternate screen has no scrollback: what was there before comes back when it ends. */
export const enterFull = `${csi}?1049h${csi}2J`
/** With the cursor in the last row: tmux scrolls rows above it into the scrollback if the size has changed meanwhile. */
export const leaveFull = `${csi}999;1H${csi}?1049l`

/** Returns the text that changes the rows of the alternate screen, or '' if nothing changed. */
export function paintFull(before: readonly string[], rows: readonly string[], cursor: CursorPlace | null): string {
  const changed = rows.map((row, index) => (before[index] === row ? '' : `${csi}${index + 1};1H${row}`)).join('')
  const below = before.length > rows.length ? `${csi}${rows.length + 1};1H${csi}J` : ''
  const place = cursor ? `${csi}${cursor.row + 1};${cursor.column + 1}H${csi}?25h` : ''
  return `${csi}?2026h${csi}?25l${csi}?7l${changed}${below}${place}${csi}?7h${csi}?2026l`
}

/** Returns the text that draws each row. */
export const toRows = (lines: readonly StyledLine[], isColoured: boolean, columns: number): readonly string[] =>
  lines.map((one) => `${toAnsi(one, isColoured)}${clearRest(lineWidth(one), columns)}`)
