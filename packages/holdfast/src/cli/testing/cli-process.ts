import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { findHome, storeOf } from '../../system/home.ts'
import { runProgram } from '../program.ts'
import { wrapSentences } from '../render/wrap-words.ts'
import { colourOf, createOutput } from '../terminal/output.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
export const nodePath = join(root, 'node_modules/.bin/node')
export const binPath = join(root, 'packages/holdfast/bin/holdfast.mjs')
export const startPath = join(root, 'scripts/start.mjs')

const pageDir = join(root, 'packages/web/dist')
const { version } = JSON.parse(readFileSync(join(root, 'packages/holdfast/package.json'), 'utf8')) as {
  readonly version: string
}

export type CliResult = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export type CliOptions = {
  readonly input?: string
  /** Keeps the input open for `write`. */
  readonly isInputOpen?: boolean
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
  /** Types into an input that was kept open. */
  write(text: string): void
}

/** Runs the real program in its own home and workdir. */
export interface Cli extends Disposable {
  readonly home: string
  readonly workdir: string
  /** Starts it as a process of its own. */
  start(args: readonly string[], options?: CliOptions): CliProcess
  /** Starts it as a process of its own, and waits for its end. */
  runProcess(args: readonly string[], options?: CliOptions): Promise<CliResult>
  /**
   * Runs it in this process, from its arguments to its exit code: it opens and closes everything as a process does, but
   * saves the second that a process takes to start. Arguments must name no relative path: those are relative to the
   * directory of this process.
   */
  run(args: readonly string[], options?: Omit<CliOptions, 'script' | 'isInputOpen'>): Promise<CliResult>
}

export function createCli(): Cli {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hf-cli-')))
  const home = join(base, 'home')
  const workdir = join(base, 'work')
  mkdirSync(workdir)
  const running = new Set<ChildProcessWithoutNullStreams>()

  const environmentOf = ({ environment }: CliOptions) => {
    const { ANTHROPIC_API_KEY, HOLDFAST_TOKEN, NO_COLOR, FORCE_COLOR, ...inherited } = process.env
    return { ...inherited, HOLDFAST_HOME: home, DEMO_PACE: '0', HOLDFAST_LOCAL_MODELS: 'off', ...environment }
  }

  const start = (args: readonly string[], options: CliOptions = {}): CliProcess => {
    const child = spawn(nodePath, [options.script ?? binPath, ...args], {
      cwd: options.cwd ?? workdir,
      env: environmentOf(options),
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
    child.stdin.write(options.input ?? '')
    if (!options.isInputOpen) child.stdin.end()
    return {
      pid: child.pid ?? 0,
      ended,
      kill: (signal) => child.kill(signal),
      write: (text) => child.stdin.write(text),
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

  const run: Cli['run'] = async (args, options = {}) => {
    const environment = environmentOf(options)
    const [stdout, stderr] = [createCollector(), createCollector()]
    const colour = colourOf(environment)
    const code = await runProgram(args, {
      environment,
      home: findHome(environment),
      store: storeOf(environment),
      version,
      pageDir,
      pid: process.pid,
      now: Date.now,
      cwd: () => options.cwd ?? workdir,
      keyboard: () => null,
      input: () => Readable.from([Buffer.from(options.input ?? '')]) as Readable & { readonly isTTY?: boolean },
      out: createOutput({ stream: stdout.stream, colour, rejectsOnFailure: true, wrapSentences }),
      err: createOutput({ stream: stderr.stream, colour, rejectsOnFailure: false, wrapSentences }),
      onCrash: () => undefined,
      untilInterrupted: () => new AbortController().signal,
    })
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() }
  }

  return {
    home,
    workdir,
    start,
    run,
    runProcess: (args, options) => start(args, options).ended,
    [Symbol.dispose]() {
      for (const child of running) child.kill('SIGKILL')
      rmSync(base, { recursive: true, force: true })
    },
  }
}

function createCollector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
