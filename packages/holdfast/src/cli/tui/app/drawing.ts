import type { Environment } from '../../../system/home.ts'
import { durationText } from '../render/format.ts'
import { type StyledLine, span, styles } from '../term/lines.ts'
import { enterFull, leaveFull, paintFull, toRows } from '../term/paint-full.ts'
import { nothingPainted, type Painted, paint } from '../term/painter.ts'
import { mouseOff, mouseOn, type Terminal } from '../term/terminal.ts'
import type { FullView } from '../views/full-view.ts'
import { type App, isBusy, questionsOf } from './app-state.ts'
import { compose } from './compose.ts'
import { createScrollback } from './scrollback.ts'

/** Draws the screen when something changed, at most some ten times a second. Idle, it does nothing. */
export interface Drawing {
  /** Asks for a draw. After a key it comes at once, else within a frame. */
  request(cause?: 'key'): void
  /** Draws everything again, as after a resize. */
  resize(): void
  repaint(): void
  /** Clears the live region, so that another program can use the terminal. */
  release(): void
  end(): void
}

type DrawingDeps = {
  readonly app: App
  readonly terminal: Terminal
  readonly views: readonly FullView[]
  readonly isColoured: boolean
  /** What is on the screen already. */
  readonly painted: Painted
  /** Called before each draw of the main screen. */
  readonly onFrame: () => void
}

const frameMs = 33
const spinnerMs = 120
/** Sizes change many times while a window is dragged. Drawn in between, rows land where they were a size ago. */
const settleMs = 80
const spinners = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The rows that a scrollback begins with. */
const openingRows = 2

/** Clears the screen. The rows of it go to the scrollback. */
const clearScreen = '\u001b[H\u001b[J'

/** Clears the screen row by row: nothing of it goes to the scrollback. */
const eraseRows = (rows: number): string =>
  `${Array.from({ length: rows }, (_, index) => `\u001b[${index + 1};1H\u001b[2K`).join('')}\u001b[H`

/**
 * Returns whether the program runs in tmux or screen. They move the rows at once when a window changes its size, and tell a
 * program up to a quarter of a second later: what it draws in between lands elsewhere.
 */
const isInMultiplexer = ({ TMUX, STY, TERM = '' }: Environment): boolean =>
  Boolean(TMUX || STY) || /^(tmux|screen)/.test(TERM)

export function createDrawing({ app, terminal, views, isColoured, onFrame, ...deps }: DrawingDeps): Drawing {
  let { painted } = deps
  /** The rows of the alternate screen while it is shown. */
  let full: readonly string[] | null = null
  let frame: NodeJS.Timeout | null = null
  let spin: NodeJS.Timeout | null = null
  /** Set while a draw comes at once. */
  let soon: NodeJS.Immediate | null = null
  let lastDraw = 0
  let lastResize = Number.NEGATIVE_INFINITY
  let busySince: number | null = null
  /** Whether another program uses the terminal: nothing is drawn until `repaint`. */
  let isReleased = false
  let hasEnded = false
  const isMultiplexed = isInMultiplexer(app.context.environment)
  /** Whether the rows on the screen may be elsewhere than this process drew them. */
  let isMisplaced = false
  /** How many rows were printed above the live region. */
  let printed = 0
  /** Whether this process drew all rows on the screen: none of the shell is left on it. */
  let isOwnScreen = false

  function draw(): void {
    cancel()
    if (hasEnded || isReleased || terminal.isBehind()) return // `drain` asks again
    lastDraw = performance.now()
    const unsettledMs = lastResize + settleMs - lastDraw
    if (unsettledMs > 0) {
      frame = setTimeout(draw, unsettledMs)
      return
    }
    const view = views.at(-1)
    if (view) drawFull(view)
    else drawMain()
    animate()
  }

  function drawFull(view: FullView): void {
    const size = terminal.size()
    const { rows, cursor } = view.draw(size)
    const next = toRows(rows, isColoured, size.columns)
    const start = full === null ? `${enterFull}${app.hasMouse ? mouseOn : ''}` : ''
    const text = paintFull(full ?? [], next, cursor)
    full = next
    terminal.write(start + text)
  }

  function drawMain(): void {
    if (full !== null) {
      full = null
      terminal.write(`${mouseOff}${leaveFull}`)
    }
    if (isMisplaced) drawAnew()
    onFrame()
    const size = terminal.size()
    const now = app.context.now()
    busySince = isBusy(app) ? (busySince ?? now) : null
    const spinner = spinners[Math.floor(now / spinnerMs) % spinners.length] ?? ''
    const facts = { width: Math.max(20, size.columns - 1), rows: size.rows, spinner }
    const { print, tail } = app.live ? app.scrollback.advance(app.live, facts) : { print: [], tail: [] }
    const region = compose(app, tail, busyRow(spinner, now), size)
    const lines = [...app.toPrint.splice(0), ...print]
    const next = paint(painted, { print: lines, ...region, columns: size.columns }, isColoured)
    painted = next.painted
    printed += lines.length
    if (next.text !== '') terminal.write(next.text)
  }

  /**
   * Clears the screen and prints the newest messages again. If rows of the shell may be on it, all of it but the live region
   * moves into the scrollback, which then has these messages twice.
   */
  function drawAnew(): void {
    isMisplaced = false
    const { rows } = terminal.size()
    const live = painted.rows.length
    isOwnScreen ||= printed + live > rows
    if (!isOwnScreen) eraseLive() // else the scrollback would get an input and a status line
    terminal.write(isOwnScreen ? eraseRows(rows) : clearScreen)
    isOwnScreen = true
    painted = nothingPainted
    app.scrollback = createScrollback(app.colours, Math.max(1, rows - live - openingRows))
  }

  /** Erases the live region. The cursor stays where it began. */
  function eraseLive(): void {
    const nothing = { print: [], live: [], cursor: null, columns: terminal.size().columns }
    terminal.write(paint(painted, nothing, isColoured).text)
    painted = nothingPainted
  }

  function busyRow(spinner: string, now: number): StyledLine | null {
    if (busySince === null || questionsOf(app).length > 0) return null
    const since = now - busySince
    const time = since < 2000 ? '' : `  ${durationText(Math.floor(since / 1000) * 1000)}`
    return [span(`${spinner} `, styles.accent), span('working', styles.dim), span(`${time}  Esc stops`, styles.dim)]
  }

  /** Only a running turn moves by itself. */
  function animate(): void {
    if (busySince !== null && views.length === 0 && questionsOf(app).length === 0) spin = setTimeout(draw, spinnerMs)
  }

  function cancel(): void {
    if (frame) clearTimeout(frame)
    if (spin) clearTimeout(spin)
    if (soon) clearImmediate(soon)
    ;[frame, spin, soon] = [null, null, null]
  }

  function request(cause?: 'key'): void {
    if (hasEnded || isReleased || soon) return
    const wait = frameMs - (performance.now() - lastDraw)
    if (cause === 'key' || wait <= 0) soon = setImmediate(draw)
    else frame ??= setTimeout(draw, wait)
  }

  const drawing: Drawing = {
    request,
    resize() {
      lastResize = performance.now()
      isMisplaced ||= isMultiplexed
      if (full !== null) full = []
      request('key')
    },
    repaint() {
      // After another program the cursor is below what that program left; else the rows to replace are above it.
      if (!isReleased) drawing.release()
      isReleased = false
      painted = nothingPainted
      request('key')
    },
    release() {
      cancel()
      isReleased = true
      isOwnScreen = false
      if (full !== null) terminal.write(`${mouseOff}${leaveFull}`)
      full = null
      eraseLive()
    },
    end() {
      if (hasEnded) return
      if (!isReleased) drawing.release()
      hasEnded = true
    },
  }
  return drawing
}
