import { existsSync } from 'node:fs'
import type { Clock, Tool, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { escapeLine, fault, limits, type Output, ok, type Result, type SessionId } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import type { Environment } from '../../system/home.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { commandArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, foreseen } from '../define/define-tool.ts'
import { signalGroup } from '../program/process-group.ts'
import type { BackgroundShells, ReservedPlace } from './background-shells.ts'
import { type BoundedBefore, compareBounded, createCommandJudge, readBounded } from './bounded-command.ts'
import { type Confinement, unconfined } from './confinement.ts'
import { commandEnvironment } from './environment.ts'
import { isAnswer } from './exit-code.ts'
import { type Gate, spawnGate } from './gate.ts'
import { createOutputFile, type OutputFile } from './output/output-file.ts'
import { readableOutput } from './output/readable-output.ts'
import { type EndedCommand, endingWords, type RunningCommand, runCommand } from './running-command.ts'
import type { CapturedFiles, TouchedFiles } from './touched-files.ts'

const timeoutDefault = limits.shellTimeoutMs / 1000
const timeoutMax = limits.shellTimeoutMsMax / 1000
/** Space kept for our notes after the output, within the size limit of a blob. */
const ownWordsBytes = 4096
const abortGraceMs = 100

const input = z.strictObject({
  command: commandArgument.describe('The command, for bash.'),
  timeout: z
    .int({ error: 'must be a whole number of seconds' })
    .min(1, 'must be at least 1 second')
    .max(timeoutMax, `must be at most ${timeoutMax} seconds`)
    .default(timeoutDefault)
    .describe(`Seconds until the command goes on in the background. Default ${timeoutDefault}, at most ${timeoutMax}.`),
  background: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Starts the command and returns its id at once: for servers, watchers and long builds.'),
  network: z
    .boolean({ error: 'must be true or false' })
    .optional()
    .describe('Asks the person for the network, if the sandbox keeps it from this command.'),
})

/** What the shell tools share. */
export type ShellDeps = {
  readonly environment: Environment
  readonly keyNames?: readonly string[] | undefined
  /** Variables that commands get too, by name. */
  readonly passed?: readonly string[] | undefined
  readonly after?: Clock['after'] | undefined
  /** A command that writes more is killed. */
  readonly outputBytesMax?: number | undefined
  /** A private directory for the output while a command runs. */
  readonly directory?: string | undefined
  /** Without it every command ends with its call. */
  readonly background?: BackgroundShells | undefined
  /** Without it commands are not confined. */
  readonly confinement?: Confinement | undefined
  /** Without it nothing is known of the files that commands change, but of those with edit boundaries. */
  readonly touched?: TouchedFiles | undefined
}

const description =
  'Runs a command with bash in the working directory and returns what it prints, both outputs together. It has no input and no terminal. ' +
  'What the command itself leaves running with & is ended with it: use background: true, then shell_output and shell_stop with the returned id. ' +
  'Long output is cut in the middle; the whole is kept.'

/** Creates the shell tool. It runs a command in its own process group, which outlives the call only in the background. */
export function createShell(deps: ShellDeps): Tool {
  const tool = defineTool({
    name: 'shell',
    description,
    input,
    changes: 'something',

    async preview({ command, background, network = false }, { workdir, session }) {
      const cwd = await resolveWorkdir(workdir)
      if (!cwd.ok) return cwd
      const refused = background ? refusal(deps, session) : null
      if (refused) return refused
      const later = background ? { background: true as const } : {}
      const plain = { type: 'command' as const, command, cwd: cwd.value, ...later }
      if (!deps.confinement) return ok({ preview: plain })
      const confined = await deps.confinement.judge({ command, workdir: cwd.value, network })
      if (!confined.ok) return confined
      const { alwaysAsk, ...sandbox } = confined.value
      return ok({ preview: { ...plain, sandbox }, ...(alwaysAsk !== undefined && { alwaysAsk }) })
    },

    async run(args, context, run) {
      if (run.signal.aborted) return abortedResult
      if (!args.background) return startAndAttend(deps, args, context, run)
      const place = reserve(deps, context.session)
      if (!place.ok) return (await begun(run)) ? failedWith(place.fault) : abortedResult
      // The place is kept from before the start, so that commands which start at once cannot be too many.
      return startAndAttend(deps, args, context, run, place.value).finally(() => place.value.release())
    },
  })
  const { confinement } = deps
  // Read for each step: whether the sandbox works is known once it was tried out.
  return confinement ? { ...tool, schema: withDescription(tool.schema, () => confinement.describe()) } : tool
}

/** Starts a command, and waits for its end unless it has a place in the background. */
async function startAndAttend(
  deps: ShellDeps,
  { command, timeout, network = false }: z.infer<typeof input>,
  context: ToolContext,
  run: ToolRun,
  place?: ReservedPlace,
): Promise<ToolResult> {
  const captured = (await deps.touched?.capture(context, run)) ?? null
  const before = await readBounded(context)
  const started = await start(deps, { command, network }, context).catch(foreseen)
  if (!started.ok) return (await begun(run)) ? failedWith(started.fault) : abortedResult
  const { gate, output, note } = started.value
  if (!(await begunOrKilled(gate, output, run))) return abortedResult
  const { after = wallClock.after, outputBytesMax: bytesMax = limits.toolOutputBytesMax - ownWordsBytes } = deps
  const running = runCommand(gate, output, { after, bytesMax, show: place ? () => undefined : run.show })
  const readOnly = gate.wrapper === undefined ? null : readOnlyNote(context)
  const attended = { deps, command, context, running, before, captured, readOnly, note }
  return place ? detach(attended, run, place) : attend(attended, run, timeout)
}

const withDescription = (schema: Tool['schema'], more: () => string): Tool['schema'] => ({
  ...schema,
  get description() {
    return schema.description + more()
  },
})

const refusal = ({ background }: ShellDeps, session: SessionId | undefined): Result<never> | null =>
  background ? background.refusal(session) : { ok: false, fault: noBackground }

const reserve = ({ background }: ShellDeps, session: SessionId | undefined): Result<ReservedPlace> =>
  background ? background.reserve(session) : { ok: false, fault: noBackground }

const noBackground = fault('bad_request', 'Nothing can run in the background here.')

/** The bash of this machine; where there is none, the shell that every system has. */
const shellPath = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'

type Started = { readonly gate: Gate; readonly output: OutputFile; readonly note: string | null }

type Wanted = { readonly command: string; readonly network: boolean }

async function start(deps: ShellDeps, { command, network }: Wanted, context: ToolContext): Promise<Result<Started>> {
  const cwd = await resolveWorkdir(context.workdir)
  if (!cwd.ok) return cwd
  const bash = [shellPath, '-c', command]
  const wrapped = await deps.confinement?.wrap(bash, { command, network, workdir: cwd.value, context })
  if (wrapped?.ok === false) return wrapped
  const environment = commandEnvironment(deps.environment, deps)
  const { argv, wrapper, release, note } = wrapped?.value ?? unconfined(bash)
  let output: OutputFile | null = null
  try {
    output = await createOutputFile(deps.directory)
    const gate = await spawnGate(argv, { cwd: cwd.value, environment, output: output.fd, wrapper, release })
    return ok({ gate, output, note })
  } catch (error) {
    await Promise.allSettled([release(), output?.close()])
    throw error
  }
}

/** Waits as `begun` does. If it returns false or throws, the gate is killed before the command runs. */
async function begunOrKilled(gate: Gate, output: OutputFile, run: ToolRun): Promise<boolean> {
  let isBegun = false
  try {
    isBegun = await begun(run, gate.mark)
    return isBegun
  } finally {
    if (!isBegun) {
      signalGroup(gate.mark.group, 'SIGKILL')
      await gate.released
      await output.close()
    }
  }
}

type Attended = {
  readonly deps: ShellDeps
  readonly command: string
  readonly context: ToolContext
  readonly running: RunningCommand
  readonly before: BoundedBefore
  readonly captured: CapturedFiles | null
  /** Says which files the sandbox keeps read-only because they have edit boundaries; null if there are none. */
  readonly readOnly: string | null
  /** Says which paths it names are hidden from it; null if there are none. */
  readonly note: string | null
}

/** Waits for the end of a command. At its timeout it goes on in the background, at an abort it is killed. */
async function attend(attended: Attended, run: ToolRun, timeout: number): Promise<ToolResult> {
  const { deps, command, context, running, before, captured, readOnly, note } = attended
  const { after = wallClock.after } = deps
  const timedOut = Promise.withResolvers<'timed out'>()
  const cancel = after(timeout * 1000, () => timedOut.resolve('timed out'))
  const abort = () => running.end('aborted')
  run.signal.addEventListener('abort', abort, { once: true })
  if (run.signal.aborted) abort()
  try {
    const first = await Promise.race([running.ended, timedOut.promise])
    const place = first === 'timed out' && !run.signal.aborted ? reserve(deps, context.session) : null
    if (place?.ok) return await detach(attended, run, place.value, timeout)
    if (first === 'timed out') running.end('timed out')
    const result = await report(await running.ended, { command, running, readOnly, note, run, after, timeout })
    const compared = await compareBounded(result, before, context, run)
    return captured ? await captured.addTo(compared, context, run) : compared
  } finally {
    cancel()
    run.signal.removeEventListener('abort', abort)
  }
}

type Reported = Pick<Attended, 'command' | 'running' | 'readOnly' | 'note'> & {
  readonly run: ToolRun
  readonly after: Clock['after']
  readonly timeout: number
}

/** Stores the output of a command that has ended. A stuck disk must not delay an abort, so that wait is limited. */
async function report(
  { ending, bytes, leftRunning }: EndedCommand,
  { command, running, readOnly, note, run, after, timeout }: Reported,
): Promise<ToolResult> {
  const hasFailed = ending.type === 'exited' && ending.code !== 0
  const notes = [
    ...endingWords(ending, timeout),
    ...(leftRunning === undefined ? [] : [leftRunning]),
    ...(hasFailed && readOnly !== null ? [readOnly] : []),
    ...(note === null ? [] : [note]),
  ]
  const stored = run.storeOutput(withNotes(running.output.read(0, bytes), notes), readableOutput).then(ok, cannotKeep)
  const aborted = Promise.withResolvers<Result<Output>>()
  const giveUp = () => void after(abortGraceMs, () => aborted.resolve(ok(abortedResult.output)))
  if (run.signal.aborted) giveUp()
  else run.signal.addEventListener('abort', giveUp, { once: true })
  const output = await Promise.race([stored, aborted.promise])
  void running.output.close() // also if the disk is stuck: what could still be stored belongs to no record
  const left = leftRunning === undefined ? {} : { leftRunning }
  if (!output.ok) return { ...failedWith(output.fault), ...left }
  const isOk = ending.type === 'exited' && isAnswer(command, ending.code) && !run.signal.aborted
  return { type: isOk ? 'ok' : 'failed', output: output.value, ...left }
}

const cannotKeep = (error: unknown): Result<never> => ({
  ok: false,
  fault: fault('storage_error', `the output could not be kept: ${String(error)}`),
})

/** Lets a command go on in the background, and returns its id. */
async function detach(attended: Attended, run: ToolRun, place: ReservedPlace, timeout?: number): Promise<ToolResult> {
  const { command, running, before, captured, readOnly, note } = attended
  running.detach()
  const added = await place.use(command, running, createCommandJudge(before, run, captured)).then(ok, foreseen)
  if (!added.ok) {
    running.end('aborted')
    await running.ended
    await running.output.close()
    return failedWith(added.fault)
  }
  const { id } = added.value
  const why = timeout === undefined ? 'Started' : `Still running after ${timeout} s: it goes on`
  const text = `${why} in the background as ${id}. Read its output with shell_output, end it with shell_stop.`
  const notes = [readOnly, note].filter((one) => one !== null)
  return { type: 'ok', output: { text: [text, ...notes].join('\n') } }
}

const namedMax = 10

/** Names the files that a command in the sandbox cannot write: what it prints about them gives no reason. */
function readOnlyNote({ boundaries = [] }: ToolContext): string | null {
  if (boundaries.length === 0) return null
  const names = boundaries.slice(0, namedMax).map(({ path }) => escapeLine(path))
  const more = boundaries.length > namedMax ? ` and ${boundaries.length - namedMax} more` : ''
  return `[read-only for commands, because of edit boundaries: ${names.join(', ')}${more}. Change them with edit_file, inside the allowed lines]`
}

/** Yields output, followed by notes of ours on lines of their own. */
export async function* withNotes(
  output: AsyncIterable<Uint8Array>,
  notes: readonly string[],
): AsyncGenerator<Uint8Array> {
  let endsLine = true
  for await (const piece of output) {
    endsLine = piece.at(-1) === 0x0a
    yield piece
  }
  if (notes.length > 0) yield Buffer.from(`${endsLine ? '' : '\n'}${notes.join('\n')}`)
}
