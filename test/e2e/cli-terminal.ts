import { spawn } from '@lydell/node-pty'
import { binPath, type Cli, nodePath } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

/** The program in a real terminal of 80 columns, or as many as `columns` says. */
export interface CliTerminal extends Disposable {
  /** Presses keys. */
  type(keys: string): void
  /** Resolves with the first match on the screen after the last one. Rejects if the program ends without it. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
}

export function openTerminal(
  { home, workdir }: Pick<Cli, 'home' | 'workdir'>,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  /** Piped to the program in a shell. */
  piped: string | null = null,
  columns = 80,
): CliTerminal {
  const command = [nodePath, binPath, ...args]
  const inShell = ['/bin/sh', '-c', 'printf "%s" "$PIPED" | "$@"', 'sh', ...command]
  const [file = '', ...rest] = piped === null ? command : inShell
  const terminal = spawn(file, rest, {
    cwd: workdir,
    cols: columns,
    rows: 24,
    name: 'xterm-256color',
    env: {
      PATH: process.env['PATH'],
      HOLDFAST_HOME: home,
      HOLDFAST_LOCAL_MODELS: 'off',
      DEMO_PACE: '0',
      ...(piped !== null && { PIPED: piped }),
      ...environment,
    },
  })
  let shown = ''
  let hasEnded = false
  const listeners = new Set<() => void>()
  const tellAll = () => {
    for (const listener of [...listeners]) listener()
  }
  terminal.onData((text) => {
    shown += text.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '') // colours and cursor moves
    tellAll()
  })
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => {
      hasEnded = true
      tellAll()
      resolve(exitCode)
    })
  })
  return {
    type: (keys) => terminal.write(keys),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(shown)
          if (!found && !hasEnded) return
          listeners.delete(look)
          if (!found) return reject(new Error(`the program ended without ${pattern}: ${shown}`))
          shown = shown.slice(found.index + found[0].length)
          resolve(found)
        }
        listeners.add(look)
        look()
      }),
    ended,
    [Symbol.dispose]: () => {
      if (!hasEnded) terminal.kill('SIGKILL')
    },
  }
}
