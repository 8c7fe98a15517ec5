import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
export const nodePath = join(root, 'node_modules/.bin/node')
export const binPath = join(root, 'packages/holdfast/bin/holdfast.mjs')
export const startPath = join(root, 'scripts/start.mjs')

export type CliResult = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export type CliOptions = {
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly script?: string
}

/** A running program. */
export interface CliProcess {
  readonly pid: number
  readonly ended: Promise<CliResult>
  /** Resolves with the first match in the output, past or future. */
  until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
}

/** Runs the real program in its own home and workdir. */
export interface Cli extends Disposable {
  readonly home: string
  readonly workdir: string
  start(args: readonly string[], options?: CliOptions): CliProcess
  run(args: readonly string[], options?: CliOptions): Promise<CliResult>
}

export function createCli(): Cli {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hf-cli-')))
  const home = join(base, 'home')
  const workdir = join(base, 'work')
  mkdirSync(workdir)
  const running = new Set<ChildProcessWithoutNullStreams>()

  const start = (args: readonly string[], options: CliOptions = {}): CliProcess => {
    const { ANTHROPIC_API_KEY, HOLDFAST_TOKEN, NO_COLOR, FORCE_COLOR, ...inherited } = process.env
    const child = spawn(nodePath, [options.script ?? binPath, ...args], {
      cwd: options.cwd ?? workdir,
      env: { ...inherited, HOLDFAST_HOME: home, DEMO_PACE: '0', HOLDFAST_LOCAL_MODELS: 'off', ...options.environment },
    })
    running.add(child)
    const written = { stdout: '', stderr: '' }
    const listeners = new Set<() => void>()
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        written[stream] += text
        for (const listener of listeners) listener()
      })
    }
    const ended = new Promise<CliResult>((resolve) => {
      child.on('close', (code, signal) => {
        running.delete(child)
        resolve({ code, signal, ...written })
      })
    })
    child.stdin.on('error', () => undefined) // the program may end without reading
    child.stdin.end(options.input ?? '')
    return {
      pid: child.pid ?? 0,
      ended,
      kill: (signal) => child.kill(signal),
      until: (stream, pattern) =>
        new Promise((resolve, reject) => {
          const look = () => {
            const found = pattern.exec(written[stream])
            if (!found) return
            listeners.delete(look)
            resolve(found)
          }
          listeners.add(look)
          look()
          ended.then((result) => reject(new Error(`the program ended without ${pattern}: ${JSON.stringify(result)}`)))
        }),
    }
  }

  return {
    home,
    workdir,
    start,
    run: (args, options) => start(args, options).ended,
    [Symbol.dispose]() {
      for (const child of running) child.kill('SIGKILL')
      rmSync(base, { recursive: true, force: true })
    },
  }
}
