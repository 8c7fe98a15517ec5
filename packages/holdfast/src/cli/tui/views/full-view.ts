import { cellWidth } from '../term/cell-width.ts'
import type { KeyEvent } from '../term/decode-keys.ts'
import { cutLine, emptyLine, line, type StyledLine, span, styles } from '../term/lines.ts'
import type { CursorPlace } from '../term/painter.ts'
import type { TerminalSize } from '../term/terminal.ts'

/** A screen of its own over the conversation, such as the list of sessions. */
export interface FullView {
  /** Returns the rows of the whole screen. */
  draw(size: TerminalSize): { readonly rows: readonly StyledLine[]; readonly cursor: CursorPlace | null }
  key(event: KeyEvent): void
  /** Called when the view is closed. */
  close?(): void
}

/** What a view asks of the program around it. */
export interface ViewHost {
  redraw(): void
  /** Closes the view that is on top. */
  close(): void
  open(view: FullView): void
  /** Prints a line for the person, below the conversation. */
  notice(text: string, isError?: boolean): void
}

/** How far one step of the wheel goes. */
export const wheelRows = 3
/** The rows above what a view shows: title and gap. */
export const frameTop = 2

/** Returns the frame of a view: a title, its rows, and the keys at the bottom. */
export function framed(
  { columns, rows }: TerminalSize,
  title: string,
  body: readonly StyledLine[],
  hints: string,
): readonly StyledLine[] {
  const room = Math.max(1, rows - 3)
  const shown = body.slice(0, room)
  const filled = [...shown, ...Array.from({ length: room - shown.length }, () => emptyLine)]
  return [
    cutLine([span(` ${title} `, `${styles.bold};${styles.inverse}`)], columns),
    emptyLine,
    ...filled.map((row) => cutLine(row, columns)),
    cutLine(line(` ${fitHints(hints, columns - 1)}`, styles.dim), columns),
  ]
}

const hintGap = '   '

/** Leaves hints out until the rest fits, the last ones first. How to leave is always said. */
export function fitHints(hints: string, columns: number): string {
  const parts = hints.split(hintGap)
  while (cellWidth(parts.join(hintGap)) > columns) {
    const last = parts.findLastIndex((part) => !/\b(?:Esc|q) /.test(part))
    if (last === -1) break
    parts.splice(last, 1)
  }
  return parts.join(hintGap)
}

/** Whether an event is one of these keys; a typed letter counts as the key of its name. */
export const isKey = (event: KeyEvent, ...names: readonly string[]): boolean =>
  (event.type === 'key' && names.includes(event.name)) || (event.type === 'text' && names.includes(event.text))
