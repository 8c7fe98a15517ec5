import type { KeyEvent } from '../term/decode-keys.ts'
import type { StyledLine } from '../term/lines.ts'
import type { TerminalSize } from '../term/terminal.ts'
import { type FullView, framed, isKey, type ViewHost, wheelRows } from './full-view.ts'

type TextViewOptions = {
  readonly title: () => string
  /** Returns all rows for a width. Called at each draw: a caller keeps rows that are costly. */
  readonly rows: (width: number) => readonly StyledLine[]
  readonly hints?: string
  /** Begins at the end, as a transcript does. */
  readonly startsAtEnd?: boolean
  /** Handles further keys. `top` is the first visible row. Returns whether it did. */
  readonly onKey?: (event: KeyEvent, top: number) => boolean
  /** Called when the person scrolls beyond the first row. */
  readonly onTop?: () => void
}

export interface TextView extends FullView {
  /** Scrolls so that `row` is visible. */
  show(row: number): void
  /** Keeps the same rows in sight after rows were added before them. */
  shift(rows: number): void
}

/** Creates a view of text that scrolls. */
export function createTextView(options: TextViewOptions, host: ViewHost): TextView {
  const { title, rows, hints = '↑↓ scroll   q back', startsAtEnd = false, onKey, onTop } = options
  let top: number | 'end' = startsAtEnd ? 'end' : 0
  let [count, room] = [0, 1]
  const last = () => Math.max(0, count - room)
  const at = () => (top === 'end' ? last() : Math.min(top, last()))
  const scroll = (by: number) => {
    const next = at() + by
    if (next < 0) onTop?.()
    top = next >= last() ? (startsAtEnd ? 'end' : last()) : Math.max(0, next)
  }
  const moves: readonly (readonly [readonly string[], () => void])[] = [
    [['up', 'k'], () => scroll(-1)],
    [['down', 'j'], () => scroll(1)],
    [['pageup', 'b', 'ctrl+b'], () => scroll(-room)],
    [['pagedown', ' ', 'space', 'ctrl+f'], () => scroll(room)],
    [['home', 'g'], () => scroll(-Number.MAX_SAFE_INTEGER)],
    [['end', 'G'], () => scroll(Number.MAX_SAFE_INTEGER)],
  ]
  return {
    draw(size: TerminalSize) {
      const all = rows(size.columns)
      ;[count, room] = [all.length, Math.max(1, size.rows - 3)]
      const from = at()
      const percent = count <= room ? '' : `   ${Math.round((100 * (from + room)) / count)}%`
      return { rows: framed(size, title(), all.slice(from, from + room), `${hints}${percent}`), cursor: null }
    },
    key(event) {
      if (event.type === 'mouse' && event.action !== 'press') {
        scroll(event.action === 'wheelup' ? -wheelRows : wheelRows)
        return host.redraw()
      }
      if (onKey?.(event, at())) return
      if (isKey(event, 'q', 'esc', 'ctrl+c', 'ctrl+d')) return host.close()
      moves.find(([names]) => isKey(event, ...names))?.[1]()
      host.redraw()
    },
    show(row) {
      const from = at()
      if (row < from) top = Math.max(0, row)
      else if (row >= from + room) top = row - room + 1
    },
    shift(by) {
      if (top !== 'end') top += by
    },
  }
}
