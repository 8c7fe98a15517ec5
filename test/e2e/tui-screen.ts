import { type IPty, spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { binPath, type Cli, nodePath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

export type TuiOptions = {
  readonly columns?: number
  readonly rows?: number
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The kind of terminal, in `TERM`. */
  readonly name?: string
  /** Starts it as a job of an interactive shell, which can continue it after Ctrl+Z. */
  readonly isJob?: boolean
  /** Another program in place of the terminal UI. */
  readonly command?: readonly string[]
}

/** A test that waits in vain ends with the screen in its error, and not with a timeout that says nothing. */
const untilMs = 20_000

/** The terminal UI in a real pty, on a headless terminal that shows what a person would see. */
export interface TuiScreen extends AsyncDisposable {
  readonly pid: number
  /** Presses keys. */
  type(keys: string): void
  resize(columns: number, rows: number): void
  /** Returns the rows of the visible screen, without spaces at their ends. */
  rows(): readonly string[]
  text(): string
  /** Returns everything the terminal holds, the scrollback first. */
  whole(): string
  /** Resolves when the visible screen matches. Rejects if the program ends without it. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves when the screen no longer matches. */
  untilNot(pattern: RegExp): Promise<void>
  /** Resolves when scrollback and screen match. */
  untilWhole(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves when what the program wrote matches. */
  untilRaw(matches: (raw: string) => boolean): Promise<void>
  /** Everything the program wrote, as bytes of text. */
  raw(): string
  cursor(): { readonly row: number; readonly column: number; readonly isHidden: boolean }
  /** The terminal, for pictures. */
  readonly terminal: InstanceType<typeof xterm.Terminal>
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
  readonly pty: IPty
}

export function openTui(
  { home, workdir }: Pick<Cli, 'home' | 'workdir'>,
  args: readonly string[] = [],
  options: TuiOptions = {},
): TuiScreen {
  const { columns = 80, rows = 24, environment = {}, cwd = workdir, name = 'xterm-256color', isJob = false } = options
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  const shell = ['bash', '--norc', '--noprofile', '-i']
  const command = options.command ?? (isJob ? shell : [nodePath, binPath, ...args])
  const pty = spawn(command[0] ?? '', command.slice(1), {
    cwd,
    cols: columns,
    rows,
    name,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      HOLDFAST_HOME: home,
      HOLDFAST_LOCAL_MODELS: 'off',
      DEMO_PACE: '0',
      LANG: 'C.UTF-8',
      ...inherited('HOLDFAST_TEST_BUILD', 'NODE_COMPILE_CACHE'),
      ...environment,
    },
  })
  let raw = ''
  let hasEnded = false
  const listeners = new Set<() => void>()
  const rawListeners = new Set<() => void>()
  const tellAll = () => {
    for (const listener of [...listeners]) listener()
  }
  terminal.onData((answer) => pty.write(answer)) // answers to questions of the program
  pty.onData((text) => {
    raw += text
    for (const listener of [...rawListeners]) listener()
    terminal.write(text, tellAll)
  })
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      hasEnded = true
      terminal.write('', () => {
        tellAll()
        resolve(exitCode)
      })
    })
  })
  if (isJob) pty.write(`PS1='$ '; '${nodePath}' '${binPath}' ${args.join(' ')}\r`)
  const lines = (from: number, to: number): readonly string[] =>
    Array.from(
      { length: Math.max(0, to - from) },
      (_, index) =>
        terminal.buffer.active
          .getLine(from + index)
          ?.translateToString(true)
          .trimEnd() ?? '',
    )
  const visible = () => lines(terminal.buffer.active.viewportY, terminal.buffer.active.viewportY + terminal.rows)
  const whole = () => lines(0, terminal.buffer.active.length).join('\n')
  const wait = <Found>(look: () => Found | null, what: string): Promise<Found> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        listeners.delete(check)
        reject(new Error(`the screen has no ${what} after ${untilMs} ms:\n${whole()}`))
      }, untilMs)
      const check = () => {
        const found = look()
        if (found === null && !hasEnded) return
        listeners.delete(check)
        clearTimeout(late)
        if (found === null) reject(new Error(`the program ended without ${what}:\n${whole()}`))
        else resolve(found)
      }
      listeners.add(check)
      check()
    })
  const text = () => visible().join('\n')
  return {
    pid: pty.pid,
    pty,
    terminal,
    type: (keys) => pty.write(keys),
    resize(nextColumns, nextRows) {
      terminal.resize(nextColumns, nextRows)
      pty.resize(nextColumns, nextRows)
    },
    rows: visible,
    text,
    whole,
    raw: () => raw,
    until: (pattern) => wait(() => pattern.exec(text()), String(pattern)),
    untilNot: (pattern) =>
      wait(() => (pattern.test(text()) ? null : true), `the end of ${pattern}`).then(() => undefined),
    untilRaw: (matches) =>
      new Promise((resolve) => {
        const check = () => {
          if (!matches(raw)) return
          rawListeners.delete(check)
          resolve()
        }
        rawListeners.add(check)
        check()
      }),
    untilWhole: (pattern) => wait(() => pattern.exec(whole()), String(pattern)),
    cursor: () => ({
      row: terminal.buffer.active.cursorY,
      column: terminal.buffer.active.cursorX,
      isHidden: /\u001b\[\?25l(?![\s\S]*\u001b\[\?25h)/.test(raw),
    }),
    ended,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) pty.kill('SIGKILL')
      await ended
      terminal.dispose()
    },
  }
}

/** Returns the variables that are set: an empty one is not the same as none. */
const inherited = (...names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
