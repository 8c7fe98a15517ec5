import { lineWidth, type StyledLine, toAnsi } from './lines.ts'

/** A place in the live region: the row from its top and the column. */
export type CursorPlace = { readonly row: number; readonly column: number }

/** What the terminal should show: lines that are printed once and scroll away, and the rows below them. */
export type Wanted = {
  readonly print: readonly StyledLine[]
  readonly live: readonly StyledLine[]
  /** Where the cursor is in the live region; null hides it. */
  readonly cursor: CursorPlace | null
  readonly columns: number
}

type Row = { readonly text: string; readonly width: number }

/** What was drawn last. */
export type Painted = { readonly rows: readonly Row[]; readonly cursor: CursorPlace; readonly columns: number }

export const nothingPainted: Painted = { rows: [], cursor: { row: 0, column: 0 }, columns: 0 }

const csi = '\u001b['
const up = (rows: number): string => (rows > 0 ? `${csi}${rows}A` : '')
const right = (columns: number): string => (columns > 0 ? `${csi}${columns}C` : '')

/**
 * Returns the text that changes the terminal from `before` to what is wanted, or '' if nothing changed. Draws only changed
 * rows, in one synchronised update. StyledLine wrap is off meanwhile: a character that the terminal draws wider than we think
 * cannot shift the rows below.
 */
export function paint(
  before: Painted,
  wanted: Wanted,
  isColoured: boolean,
): { readonly text: string; readonly painted: Painted } {
  const rows = wanted.live.map((one): Row => ({ text: toAnsi(one, isColoured), width: lineWidth(one) }))
  const cursor = wanted.cursor ?? { row: Math.max(0, rows.length - 1), column: 0 }
  const painted = { rows, cursor, columns: wanted.columns }
  const isResized = before.columns !== wanted.columns && before.rows.length > 0
  const isWhole = wanted.print.length > 0 || isResized || before.rows.length === 0
  const body = isWhole ? drawAll(rows, wanted, isColoured) : drawChanged(before.rows, rows, wanted.columns)
  const isMoved = cursor.row !== before.cursor.row || cursor.column !== before.cursor.column
  if (body.text === '' && !isMoved) return { text: '', painted }
  const home = `${up(rowsAbove(before, wanted.columns))}\r`
  const place = `${up(body.row - cursor.row)}${down(cursor.row - body.row)}\r${right(cursor.column)}`
  const shown = wanted.cursor === null ? '' : `${csi}?25h`
  return { text: `${begin}${home}${body.text}${place}${shown}${end}`, painted }
}

const begin = `${csi}?2026h${csi}?25l${csi}?7l`
const end = `${csi}?7h${csi}?2026l`
const down = (rows: number): string => (rows > 0 ? `${csi}${rows}B` : '')

/** Returns how many rows the cursor is below the top of the live region. A terminal that became narrower broke its rows. */
function rowsAbove({ rows, cursor, columns }: Painted, columnsNow: number): number {
  if (columns === columnsNow || columnsNow === 0) return cursor.row
  const broken = rows.slice(0, cursor.row).reduce((sum, { width }) => sum + rowsOf(width, columnsNow), 0)
  return broken + Math.floor(cursor.column / columnsNow)
}

const rowsOf = (width: number, columns: number): number => Math.max(1, Math.ceil(width / columns))

type Drawn = { readonly text: string; readonly row: number }

/** Clears the rest of a row. After the last column the cursor stays on it, so that clearing would erase what was written there. */
export const clearRest = (width: number, columns: number): string => (width < columns ? `${csi}K` : '')

function drawAll(rows: readonly Row[], { print, columns }: Wanted, isColoured: boolean): Drawn {
  const printed = print.map((one) => `${toAnsi(one, isColoured)}${clearRest(lineWidth(one), columns)}\r\n`).join('')
  const live = rows.map(({ text, width }) => `${text}${clearRest(width, columns)}`)
  // What is below is cleared last, because tmux takes clearing from the first cell on as clearing the screen. But a full last
  // row must come after it: the cursor stays on the last column, and clearing would erase what was written there.
  const last = live.pop() ?? ''
  const isFull = (rows.at(-1)?.width ?? 0) >= columns
  const above = live.map((row) => `${row}\r\n`).join('')
  const ending = isFull ? `${csi}J${last}` : `${last}${csi}J`
  return { text: `${printed}${above}${ending}`, row: Math.max(0, rows.length - 1) }
}

/** Draws the rows that differ. The cursor is in the first row before. */
function drawChanged(before: readonly Row[], rows: readonly Row[], columns: number): Drawn {
  let text = ''
  let at = 0
  const last = Math.max(0, before.length - 1)
  for (const [index, row] of rows.entries()) {
    if (before[index]?.text === row.text) continue
    const known = Math.min(index, last)
    text += down(known - at)
    if (index > known) text += '\r\n'.repeat(index - Math.max(known, at)) // rows that are not on the screen yet
    text += `\r${row.text}${clearRest(row.width, columns)}`
    at = index
  }
  if (rows.length < before.length) {
    // Clears what is below the last row.
    text += `${down(rows.length - at)}${up(at - rows.length)}\r${csi}J`
    at = rows.length
  }
  return { text, row: at }
}
