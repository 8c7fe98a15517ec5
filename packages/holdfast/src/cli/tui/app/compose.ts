import { describeField } from '../../sessions/ask-questions.ts'
import { layOutEditor } from '../input/editor-layout.ts'
import { approvalRows } from '../render/approval.ts'
import { childRows, queueRows, todoRows } from '../render/side-lists.ts'
import { statusRow } from '../render/status.ts'
import {
  cutLine,
  emptyLine,
  line,
  lineWidth,
  restyled,
  type StyledLine,
  shownLine,
  span,
  styles,
} from '../term/lines.ts'
import type { CursorPlace } from '../term/painter.ts'
import type { TerminalSize } from '../term/terminal.ts'
import { type App, guardedMs, hasDriver, isBusy, isDriving, questionsOf } from './app-state.ts'

/** The live region: everything below the printed conversation. */
export type Region = { readonly live: readonly StyledLine[]; readonly cursor: CursorPlace | null }

const completionRowsMax = 8
const todoRowsMax = 4

/** Returns the rows of the live region; they always fit on the screen. `tail` is what streams. */
export function compose(
  app: App,
  tail: readonly StyledLine[],
  busyRow: StyledLine | null,
  { columns, rows }: TerminalSize,
): Region {
  const { live } = app
  const input = inputRows(app, columns, Math.max(1, Math.min(8, Math.floor(rows / 3))))
  const below = [...completionRows(app, columns, rows), statusOf(app, columns)]
  const queue = queueRows(live?.view?.queue ?? [], columns)
  const fixed = input.rows.length + below.length + 1
  let room = Math.max(0, rows - 1 - fixed)
  const take = (wanted: readonly StyledLine[], keep: 'start' | 'end' = 'start'): readonly StyledLine[] => {
    const taken = keep === 'start' ? wanted.slice(0, room) : wanted.slice(Math.max(0, wanted.length - room))
    room -= taken.length
    return taken
  }
  const approval = take(questionRows(app, columns, Math.max(4, room - 2)))
  const busy = take(busyRow ? [emptyLine, busyRow] : [])
  const queued = take(queue)
  const children = take(withGap(childRows(live?.here?.children ?? [], columns)))
  const todos = take(withGap(openTodos(app, columns)))
  const gap = take(room > 3 ? [emptyLine] : [])
  const streaming = take(tail, 'end')
  const above = [...streaming, ...children, ...todos, ...busy, ...approval, ...queued, ...gap, ruleRow(app, columns)]
  const cursor = input.cursor ? { row: above.length + input.cursor.row, column: input.cursor.column } : null
  return { live: [...above, ...input.rows, ...below], cursor }
}

const withGap = (rows: readonly StyledLine[]): readonly StyledLine[] =>
  rows.length === 0 ? rows : [emptyLine, ...rows]

function openTodos({ live }: App, width: number): readonly StyledLine[] {
  const todos = live?.view?.todos ?? []
  return todos.some(({ status }) => status !== 'done') ? todoRows(todos, width, todoRowsMax) : []
}

/** The rule above the input says what a sent text would do. */
function ruleRow(app: App, width: number): StyledLine {
  const word = ruleWord(app)
  if (word === '') return line('─'.repeat(width), styles.dim)
  const style = app.live?.view?.mode === 'plan' ? styles.warn : styles.dim
  return cutLine(
    [
      span('── ', styles.dim),
      span(word, style),
      span(` ${'─'.repeat(Math.max(0, width - word.length - 4))}`, styles.dim),
    ],
    width,
  )
}

function ruleWord(app: App): string {
  if (app.focus.type === 'reason') return 'why not? the model reads it'
  if (app.focus.type === 'field') return 'answer'
  if (!hasDriver(app)) return 'nobody drives: send something, or press Ctrl+X, to drive'
  if (app.live?.view && !isDriving(app) && app.live.presence.length > 0)
    return 'another screen drives: Ctrl+X takes over'
  const plan = app.live?.view?.mode === 'plan' ? 'plan only' : ''
  const busy = isBusy(app) ? 'Enter steers, Alt+Enter follows up' : ''
  return [plan, busy].filter((one) => one !== '').join(' · ')
}

function inputRows(
  app: App,
  columns: number,
  height: number,
): { readonly rows: readonly StyledLine[]; readonly cursor: CursorPlace | null } {
  const layout = layOutEditor(app.editor, Math.max(1, columns - 3), height)
  const mark = app.focus.type === 'reason' || app.focus.type === 'field' ? '? ' : '❯ '
  const rows = layout.rows.map(
    (row, index): StyledLine => [span(index === 0 && layout.above === 0 ? mark : '  ', styles.accent), ...row],
  )
  if (app.editor.text === '') rows[0] = [span(mark, styles.accent), span(placeholder(app), styles.dim)]
  if (layout.above + layout.below > 0)
    rows.push(line(`  … ${layout.above} lines above, ${layout.below} below`, styles.dim))
  const isHidden = app.focus.type === 'approval'
  return {
    rows: rows.map((row) => cutLine(row, columns)),
    cursor: isHidden ? null : { row: layout.caret.row, column: layout.caret.column + 2 },
  }
}

function placeholder({ focus, live }: App): string {
  if (focus.type === 'approval') return 'answer the question above'
  if (focus.type === 'reason') return 'Enter rejects it, with or without a reason. Esc goes back.'
  if (focus.type === 'field' && focus.asked.preview.type === 'question') {
    const field = focus.asked.preview.fields[focus.values.length]
    return field ? describeField(field) : ''
  }
  return live?.view?.lastTurn && live.view.lastTurn.reason !== 'done' ? '/continue takes the turn up again' : ''
}

function questionRows(app: App, width: number, rowsMax: number): readonly StyledLine[] {
  const questions = questionsOf(app)
  const [asked] = questions
  if (!asked) return []
  const keys = app.focus.type === 'prompt' ? 'input' : guardedMs(app, app.context.now()) > 0 ? 'soon' : 'answer'
  return approvalRows(asked, { width, rowsMax, count: questions.length, keys, isDriving: isDriving(app) })
}

/** A longer name of a candidate is cut, so that what it does stays in sight. */
const labelMax = (width: number): number => Math.max(16, Math.min(40, Math.floor(width / 2)))

function completionRows({ completions }: App, width: number, rows: number): readonly StyledLine[] {
  if (!completions || completions.found.length === 0) return []
  const { found, chosen } = completions
  const room = Math.max(1, Math.min(completionRowsMax, Math.floor(rows / 3)))
  const first = Math.max(0, Math.min(chosen - room + 1, found.length - room))
  const labels = found.slice(first, first + room).map(({ label }) => cutLine([span(shownLine(label))], labelMax(width)))
  const widest = Math.max(...labels.map(lineWidth))
  return found.slice(first, first + room).map(({ about }, index) => {
    const isChosen = first + index === chosen
    const label = labels[index] ?? []
    return cutLine(
      [
        span(isChosen ? '❯ ' : '  ', styles.accent),
        ...(isChosen ? restyled(label, styles.bold) : label),
        span(' '.repeat(widest - lineWidth(label))),
        span(`  ${shownLine(about)}`, styles.dim),
      ],
      width,
    )
  })
}

function statusOf(app: App, width: number): StyledLine {
  if (app.armed === 'quit') return line('  Press Ctrl+C again to leave.', styles.warn)
  if (app.armed === 'rewind') return line('  Press Esc again to go back to an earlier turn.', styles.warn)
  if (!app.live) return line('  opening the session…  you can type', styles.dim)
  const connection = app.lostAt !== null ? { state: 'waiting' as const, retryMs: 0, fault: null } : app.live.connection
  const { view, meta, here, presence, client, storageError } = app.live
  return statusRow({ view, meta, here, presence, client, storageError, connection }, width, '? keys')
}
