import { randomUUID } from 'node:crypto'
import { createLiveView } from '@holdfast/client'
import { noWorkdir } from '@holdfast/protocol'
import type { CliContext } from '../../terminal/cli-context.ts'
import { emptyEditor } from '../input/editor.ts'
import type { FirstInput } from '../input/first-input.ts'
import { createPastes } from '../input/pastes.ts'
import { openPromptHistory } from '../input/prompt-history.ts'
import { createCodeColours } from '../render/code.ts'
import { graphemesOf } from '../term/cell-width.ts'
import type { KeyEvent } from '../term/decode-keys.ts'
import { cutLine, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from '../views/full-view.ts'
import type { App } from './app-state.ts'
import { focusQuestion } from './approvals.ts'
import { createDrawing, type Drawing } from './drawing.ts'
import { handleKey, type KeyDeps } from './keys.ts'
import { createScrollback } from './scrollback.ts'
import { listCommands, runTerminalCommand } from './terminal-commands.ts'

type AppDeps = {
  readonly context: CliContext
  /** The input, which is on the screen already. */
  readonly first: FirstInput
  readonly hasMouse: boolean
  /** Called when the person leaves, or the terminal is gone. */
  readonly onQuit: () => void
}

/** For so long a second Ctrl+C leaves, and a second Esc goes back. */
const armedMs = 2000

/** A running terminal UI. */
export interface RunningApp {
  readonly app: App
  /** Gives the terminal back, with the conversation still on it. */
  close(): void
}

/** Starts the terminal UI. The input works at once; a session is shown when `app.show` is called. */
export function startApp({ context, first, hasMouse, onQuit }: AppDeps): RunningApp {
  const { terminal, screen, isColoured } = first
  const views: FullView[] = []
  // Set below, before anything can be drawn.
  let drawing: Drawing | null = null
  const redraw = () => drawing?.request()

  const host: ViewHost = {
    redraw,
    open(view) {
      views.push(view)
      redraw()
    },
    close() {
      views.pop()?.close?.()
      redraw()
    },
    notice(text, isError = false) {
      const style = isError ? styles.bad : styles.dim
      const mark = isError ? '✗ ' : '· '
      app.toPrint.push([], ...wrapText(mark + shownText(text), (screen.columns || 80) - 1, style, [span('  ')]))
      redraw()
    },
  }

  const colours = createCodeColours(redraw)
  let disarming: NodeJS.Timeout | undefined
  const app: App = {
    context,
    host,
    colours,
    client: `terminal-${randomUUID().slice(0, 8)}`,
    history: openPromptHistory(context.home),
    pastes: createPastes(),
    scrollback: createScrollback(colours),
    reached: null,
    handle: null,
    live: null,
    editor: emptyEditor,
    focus: { type: 'prompt' },
    completions: null,
    commands: listCommands([]),
    hasMouse,
    toPrint: [],
    early: [],
    shownQuestion: null,
    lostAt: null,
    onLost: () => undefined,
    armed: null,
    arm(what) {
      clearTimeout(disarming)
      app.armed = what
      disarming = setTimeout(() => {
        app.armed = null
        redraw()
      }, armedMs)
    },
    show: (handle) => showSession(app, handle),
    runCommand: (text) => runTerminalCommand(app, text),
    quit: onQuit,
    async withoutTerminal(work) {
      drawing?.release()
      terminal.leave()
      try {
        return await work()
      } finally {
        terminal.enter()
        drawing?.repaint()
      }
    },
    redraw,
  }

  const deps: KeyDeps = {
    size: terminal.size,
    now: context.now,
    repaint: () => drawing?.repaint(),
    suspend: () => suspend(app),
  }
  const onKey = (event: KeyEvent) => {
    const view = views.at(-1)
    // In a list each letter is a key, also if several arrive at once.
    const letters = event.type === 'text' && event.text.length > 1 ? graphemesOf(event.text) : []
    if (view && letters.length > 1) for (const text of letters) onKey({ type: 'text', text })
    else if (view) view.key(event)
    else handleKey(app, event, deps)
    drawing?.request('key')
  }
  const taken = first.take({ onKey, onGone: onQuit, onResize: () => drawing?.resize(), onDrain: redraw })
  app.editor = taken.editor
  const onFrame = () => focusQuestion(app, context.now())
  drawing = createDrawing({ app, terminal, views, isColoured, onFrame, painted: taken.painted })
  for (const event of taken.waiting) onKey(event)
  redraw()
  return {
    app,
    close() {
      clearTimeout(disarming)
      for (const view of views) view.close?.()
      app.live?.close()
      drawing?.end()
      terminal.close()
    },
  }
}

/** Stops this process until the shell continues it. */
function suspend(app: App): void {
  void app.withoutTerminal(
    () =>
      new Promise<void>((resolve) => {
        process.once('SIGCONT', () => resolve())
        process.kill(process.pid, 'SIGTSTP')
      }),
  )
}

/** Shows another session in place of the one before. */
function showSession(app: App, handle: NonNullable<App['handle']>): void {
  const isOther = app.live !== null
  app.live?.close()
  const live = createLiveView(handle, { client: app.client, mayDrive: true })
  app.handle = handle
  app.live = live
  app.scrollback = createScrollback(app.colours)
  app.focus = { type: 'prompt' }
  app.lostAt = null
  let isFirst = true
  live.subscribe(() => {
    if (app.live !== live) return
    noteConnection(app)
    if (isFirst && live.view && live.meta) {
      isFirst = false
      const title = live.meta.title === '' ? 'new session' : shownText(live.meta.title.split('\n')[0] ?? '')
      if (!isOther && live.meta.turnCount === 0) {
        app.toPrint.push(...welcome(live.meta.workspace, live.view.model, columnsOf(app)))
      }
      if (isOther || live.meta.title !== '') app.toPrint.push([], headingRow(live.meta.handle, title, columnsOf(app)))
      for (const send of app.early.splice(0)) send()
    }
    app.redraw()
  })
  void loadCommands(app, handle)
}

const columnsOf = ({ context }: App): number => context.screen?.().columns || 80

/** Returns the heading of a session that is shown: its handle, which is never cut, and its title. */
function headingRow(handle: string, title: string, columns: number): StyledLine {
  const [start, end] = [`── ${handle}`, ' ──']
  const room = Math.max(0, columns - 1 - start.length - end.length)
  return [span(start, styles.accent), ...cutLine([span(`  ${title}`, styles.dim)], room), span(end, styles.dim)]
}

/** Says where a new session works, and what to do. */
function welcome(workspace: string, model: string, columns: number): readonly StyledLine[] {
  const where = workspace === noWorkdir ? 'without a folder' : `in ${shownLine(workspace)}`
  const what = model.startsWith('demo/')
    ? 'The demo model answers. Say list, or get a real model: holdfast auth login'
    : 'Say what to do. @ names a file, / a command.'
  const wrap = (text: string) => wrapText(text, columns - 1, styles.dim, [span('  ')])
  return [...wrap(`Holdfast ${where}`), ...wrap(what)]
}

/** Says when the session cannot be reached, and when it can again. */
function noteConnection(app: App): void {
  const { state } = app.live?.connection ?? {}
  if (state === 'waiting' && app.lostAt === null) {
    app.lostAt = app.context.now()
    app.onLost()
    app.toPrint.push([], line('✗ The server is gone. Trying to reach it again; nothing is lost.', styles.bad))
  }
  if (state === 'live' && app.lostAt !== null) {
    app.lostAt = null
    app.toPrint.push([], line('✓ Connected again.', styles.good))
  }
}

async function loadCommands(app: App, handle: NonNullable<App['handle']>): Promise<void> {
  const found = await handle.commands()
  if (found.ok && app.handle === handle) app.commands = listCommands(found.value)
}
