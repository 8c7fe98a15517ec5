import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { invariant, type ProcessMark } from '@holdfast/protocol'
import { markProcess, markValue, signalGroup } from './process-group.ts'
import type { ProcessRecords } from './process-records.ts'
import { markEntry } from './process-table.ts'
import { spawnAlone } from './spawn-alone.ts'

/** How a program ended, with the start of what it wrote to stderr. */
export type ProgramEnd = {
  /** `stopped`: the caller has read enough. `killed`: by a signal that is not ours. */
  readonly type: 'exited' | 'aborted' | 'timed out' | 'stopped' | 'killed'
  /** The exit code; null unless it exited by itself. */
  readonly code: number | null
  readonly errors: string
}

/** A running program. Its process group never outlives it. */
export interface Program {
  /** Its stdout. Reading it slowly slows the program down. */
  readonly output: AsyncIterable<Buffer>
  readonly ended: Promise<ProgramEnd>
  /** Writes to its stdin, if that is kept open. Resolves when the program can take more. */
  write(text: string): Promise<void>
  /** Ends the program early, because the caller has read enough. */
  stop(): void
}

export type ProgramOptions = {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Absent: it may run until it is stopped. */
  readonly timeoutMs?: number | undefined
  /** How long it may clean up after SIGTERM, before SIGKILL. Git removes its lock files. */
  readonly graceMs?: number | undefined
  /** An open file that the program gets as descriptor 3. */
  readonly file?: number | undefined
  /** What it gets to read; nothing by default. */
  readonly input?: string | undefined
  /** Keeps its stdin open, for `write`. */
  readonly keepsInputOpen?: boolean | undefined
  /** Called with what it writes to stderr, as it comes. */
  readonly onErrors?: ((chunk: Buffer) => void) | undefined
  /** Its process group is put on record before it runs, so that the next start ends it if we die. */
  readonly records?: Pick<ProcessRecords, 'add' | 'remove'> | null | undefined
}

/** Waits for a line with the mark of its group before it becomes the program. If we die before that, nothing has run. */
const gate = `IFS= read -r mark && [ -n "$mark" ] || exit 1
export ${markEntry}="$mark"
exec "$@"`

/** Of stderr, this much is kept. */
const errorsBytesMax = 4096
/** How long the rest of the output may take to be read once the program has ended. */
const drainMs = 5000
/** The same for its errors, which are read at once. */
const errorsDrainMs = 200

/** Starts a program by its arguments, without a shell. Rejects with the system error if it cannot be started. */
export async function startProgram(path: string, args: readonly string[], options: ProgramOptions): Promise<Program> {
  const { cwd, environment, signal, timeoutMs, graceMs = 0, file, input, keepsInputOpen, onErrors, records } = options
  const [command, argv] = records ? ['/bin/sh', ['-c', gate, 'gate', path, ...args]] : [path, args]
  const hasInput = input !== undefined || keepsInputOpen || records
  const child = await spawnAlone(() =>
    spawn(command, argv, {
      cwd,
      env: environment,
      detached: true, // its own process group, so that its children end with it
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(file === undefined ? [] : [file])],
    }),
  )
  const exited = waitForExit(child)
  const { pid, stdout, stderr, stdin } = child
  invariant(pid !== undefined && stdout && stderr, 'a spawned program has a pid and its pipes')
  stdin?.on('error', () => undefined) // it may end without reading
  const mark = records ? await recorded(pid, records) : null
  const first = `${mark ? `${markValue(mark)}\n` : ''}${input ?? ''}`
  if (keepsInputOpen) stdin?.write(first)
  else stdin?.end(first)
  if (onErrors) stderr.on('data', onErrors)
  const errors = readErrors(stderr)
  let why: ProgramEnd['type'] | null = null

  const end = (reason: ProgramEnd['type']) => {
    if (why !== null) return
    why = reason
    if (graceMs > 0) signalGroup(pid, 'SIGTERM')
    void Promise.race([delay(graceMs, undefined, { ref: false }), exited]).then(() => signalGroup(pid, 'SIGKILL'))
    stdout.destroy()
  }
  const abort = () => end('aborted')
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timed out'), timeoutMs)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()

  const ended = exited.then(async (code): Promise<ProgramEnd> => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    signalGroup(pid, 'SIGKILL') // what it left behind in its group
    // A process that left the group may still hold the pipes; what the program itself wrote is read by then.
    setTimeout(() => stdout.destroy(), drainMs).unref()
    setTimeout(() => stderr.destroy(), errorsDrainMs).unref()
    if (mark) await records?.remove(mark).catch(() => undefined) // the next start finds the group dead and removes it
    const type = why ?? (code === null ? 'killed' : 'exited')
    return { type, code: type === 'exited' ? code : null, errors: await errors }
  })
  let drained: Promise<unknown> | null = null // one for all that wait
  const write = async (text: string): Promise<void> => {
    if (!stdin?.writable || stdin.write(text)) return
    drained ??= Promise.race([once(stdin, 'drain'), exited]).finally(() => {
      drained = null
    })
    await drained
  }
  return { output: untilDestroyed(stdout), ended, write, stop: () => end('stopped') }
}

/** Puts a process group on record. If that fails, it is killed before it has run anything. */
async function recorded(pid: number, records: Pick<ProcessRecords, 'add'>): Promise<ProcessMark> {
  try {
    const mark = await markProcess(pid)
    await records.add(mark)
    return mark
  } catch (error) {
    signalGroup(pid, 'SIGKILL')
    throw error
  }
}

/** Resolves with the exit code, or null if a signal ended the program. Its pipes may still be open. */
function waitForExit(child: ChildProcess): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', (code) => resolve(code))
  return promise
}

async function readErrors(stderr: AsyncIterable<Buffer>): Promise<string> {
  let kept = Buffer.alloc(0)
  try {
    for await (const chunk of stderr)
      if (kept.length < errorsBytesMax) kept = Buffer.concat([kept, chunk]).subarray(0, errorsBytesMax)
  } catch {
    // A broken pipe ends the errors, like the end of the program.
  }
  return kept.toString('utf8').trim()
}

/** Yields the chunks of a stream. Ends without an error if the stream is destroyed. */
async function* untilDestroyed(
  stream: AsyncIterable<Buffer> & { readonly destroyed: boolean },
): AsyncGenerator<Buffer> {
  try {
    yield* stream
  } catch (cause) {
    if (!stream.destroyed) throw cause
  }
}
