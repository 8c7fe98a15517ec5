import type { CliContext, ScreenStream } from '../../terminal/cli-context.ts'
import type { KeyEvent } from '../term/decode-keys.ts'
import { line, type StyledLine, span, styles } from '../term/lines.ts'
import { nothingPainted, type Painted, paint } from '../term/painter.ts'
import { openTerminal, restoreText, type Terminal } from '../term/terminal.ts'
import { type Editor, editByKey, emptyEditor, insert } from './editor.ts'
import { layOutEditor } from './editor-layout.ts'

/** The input while the rest of the program is loaded: what is typed is shown, and other keys wait. */
export interface FirstInput {
  readonly terminal: Terminal
  readonly screen: ScreenStream
  readonly isColoured: boolean
  /** Hands everything over to the program. From then on it gets the keys. */
  take(handlers: InputHandlers): {
    readonly editor: Editor
    readonly waiting: readonly KeyEvent[]
    readonly painted: Painted
  }
}

export type InputHandlers = {
  readonly onKey: (event: KeyEvent) => void
  readonly onResize: () => void
  readonly onDrain: () => void
  readonly onGone: () => void
}

export function openFirstInput(context: CliContext, screen: ScreenStream, isColoured: boolean): FirstInput {
  let editor = emptyEditor
  let painted = nothingPainted
  let handlers: InputHandlers | null = null
  const waiting: KeyEvent[] = []

  /** Returns the editor after a key; null if the program has to handle it. */
  function edit(event: KeyEvent): Editor | null {
    if (waiting.length > 0) return null // keys keep their order
    if (event.type === 'key') return editByKey(editor, event.name)
    return event.type === 'text' && event.text !== '?' ? insert(editor, event.text) : null
  }

  function onKey(event: KeyEvent): void {
    if (handlers) handlers.onKey(event)
    else {
      const edited = edit(event)
      if (edited) editor = edited
      else waiting.push(event)
      draw()
    }
  }

  function draw(): void {
    const { columns, rows } = terminal.size()
    const layout = layOutEditor(editor, Math.max(1, columns - 3), Math.max(1, Math.min(8, Math.floor(rows / 3))))
    const input = layout.rows.map(
      (row, index): StyledLine => [span(index === 0 && layout.above === 0 ? '❯ ' : '  ', styles.accent), ...row],
    )
    const live = [[], line('─'.repeat(columns), styles.dim), ...input, line('  opening the session…', styles.dim)]
    const cursor = { row: 2 + layout.caret.row, column: 2 + layout.caret.column }
    const next = paint(painted, { print: [], live, cursor, columns }, isColoured)
    painted = next.painted
    terminal.write(next.text)
  }

  const terminal = openTerminal({
    input: context.input(),
    output: screen,
    onKey,
    onResize: () => handlers?.onResize(),
    onDrain: () => handlers?.onDrain(),
    onGone: () => handlers?.onGone(),
  })
  context.onCrash(() => screen.write(`\u001b[?1049l${restoreText}\r\n`))
  draw()
  return {
    terminal,
    screen,
    isColoured,
    take(next) {
      handlers = next
      return { editor, waiting, painted }
    },
  }
}
