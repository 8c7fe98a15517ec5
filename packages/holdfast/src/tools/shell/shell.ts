import type { Clock, Tool, ToolResult, ToolRun } from '@holdfast/core/ports'
import { fault, limits, type Output, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import type { Environment } from '../../system/home.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { commandArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, foreseen } from '../define/define-tool.ts'
import { commandEnvironment } from './environment.ts'
import { type Gate, spawnGate } from './gate.ts'
import { createLiveOutput } from './live-output.ts'
import { livingMembers, signalGroup, tellEscaped } from './process-group.ts'

const timeoutDefault = limits.shellTimeoutMs / 1000
const timeoutMax = limits.shellTimeoutMsMax / 1000
/** Space kept for our notes after the output, within the size limit of a blob. */
const ownWordsBytes = 4096
const abortGraceMs = 100
/** How long output may still come once the command itself has ended. */
const drainMs = 100
/** How long a command may still write after SIGTERM. */
const termGraceMs = 1000
/** A process that waits for a broken disk dies only when the disk answers, so the wait is limited. */
const looksMax = 100

const input = z.strictObject({
  command: commandArgument.describe('The command, for /bin/sh.'),
  timeout: z
    .int({ error: 'must be a whole number of seconds' })
    .min(1, 'must be at least 1 second')
    .max(timeoutMax, `must be at most ${timeoutMax} seconds`)
    .default(timeoutDefault)
    .describe(`Seconds after which the command is ended. Default ${timeoutDefault}, at most ${timeoutMax}.`),
})

export type ShellDeps = {
  readonly environment: Environment
  readonly keyNames?: readonly string[] | undefined
  readonly after?: Clock['after'] | undefined
  readonly outputBytesMax?: number | undefined
}

/** Creates the shell tool. It runs a command in its own process group, which never outlives the call. */
export function createShell({
  environment,
  keyNames,
  after = wallClock.after,
  outputBytesMax = limits.toolOutputBytesMax,
}: ShellDeps): Tool {
  return defineTool({
    name: 'shell',
    description:
      'Runs a command with /bin/sh in the working directory and returns what it prints. It has no input and no terminal; what it leaves running in the background is ended with it.',
    input,
    changes: 'something',

    async preview({ command }, { workdir }) {
      const cwd = await resolveWorkdir(workdir)
      return cwd.ok ? ok({ preview: { type: 'command', command, cwd: cwd.value } }) : cwd
    },

    async run({ command, timeout }, { workdir }, run) {
      if (run.signal.aborted) return abortedResult
      const cwd = await resolveWorkdir(workdir)
      const started = cwd.ok
        ? await spawnGate(command, { cwd: cwd.value, environment: commandEnvironment(environment, keyNames) }).then(
            ok,
            foreseen,
          )
        : cwd
      if (!started.ok) return (await begun(run)) ? failedWith(started.fault) : abortedResult
      const gate = started.value
      if (!(await begunOrKilled(gate, run))) return abortedResult
      return attend(gate, run, { after, timeoutMs: timeout * 1000, outputBytesMax })
    },
  })
}

/** Waits as `begun` does. If it returns false or throws, the gate is killed before the command runs. */
async function begunOrKilled(gate: Gate, run: ToolRun): Promise<boolean> {
  let isBegun = false
  try {
    isBegun = await begun(run, gate.mark)
    return isBegun
  } finally {
    if (!isBegun) {
      signalGroup(gate.mark.group, 'SIGKILL')
      await gate.gone
    }
  }
}

type RunLimits = { readonly after: Clock['after']; readonly timeoutMs: number; readonly outputBytesMax: number }

async function attend(gate: Gate, run: ToolRun, runLimits: RunLimits): Promise<ToolResult> {
  const { after } = runLimits
  const supervision = supervise(gate, run.signal, runLimits)
  let closed: Promise<string | undefined> | null = null
  const close = () => {
    closed ??= supervision.close().then(() => tellEscaped(gate.mark))
    return closed
  }
  gate.open()
  const kept = run
    .storeOutput(outputOf(gate, run, { ending: supervision.ending, close }, runLimits))
    .then(ok, (error: unknown) => ({
      ok: false as const,
      fault: fault('storage_error', `the output could not be kept: ${String(error)}`),
    }))
  const aborted = supervision.ending.then(({ type }) =>
    type === 'aborted' ? close().then(() => abortGrace(after)) : kept,
  )
  const output = await Promise.race([kept, aborted])
  const leftRunning = await close()
  gate.output.destroy() // stops a reader that is still reading
  if (!output.ok) return { ...failedWith(output.fault), leftRunning }
  const ending = await supervision.ending
  const type = ending.type === 'exited' && ending.code === 0 ? 'ok' : 'failed'
  return { type, output: output.value, leftRunning }
}

type Close = {
  readonly ending: Promise<Ending>
  /** Kills the group once, and returns a note on processes that left it. */
  readonly close: () => Promise<string | undefined>
}

/** Limits how long an abort waits for the output to be stored: a stuck disk must not delay it. */
function abortGrace(after: Clock['after']): Promise<{ readonly ok: true; readonly value: Output }> {
  return new Promise((resolve) => after(abortGraceMs, () => resolve({ ok: true, value: abortedResult.output })))
}

/** Streams the command's output, live and to storage, followed by notes on how it ended. */
async function* outputOf(
  { output }: Gate,
  { show }: ToolRun,
  { ending, close }: Close,
  { after, timeoutMs, outputBytesMax }: RunLimits,
): AsyncGenerator<Uint8Array> {
  const live = createLiveOutput(show, after)
  const room = outputBytesMax - ownWordsBytes
  let seen = 0
  let endsLine = true
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      live.add(chunk)
      const fits = chunk.subarray(0, Math.max(0, room - seen))
      seen += chunk.length
      if (fits.length === 0) continue
      endsLine = fits.at(-1) === 0x0a
      yield fits
    }
  } finally {
    live.end()
  }
  const words = seen > room ? [`[cut at ${room} of ${seen} bytes]`] : []
  words.push(...endingWords(await ending, timeoutMs))
  const leftRunning = await close()
  if (leftRunning !== undefined) words.push(leftRunning)
  if (words.length > 0) yield Buffer.from(`${endsLine ? '' : '\n'}${words.join('\n')}`)
}

function endingWords(ending: Ending, timeoutMs: number): readonly string[] {
  switch (ending.type) {
    case 'exited':
      return ending.code === 0 ? [] : [`exit code ${ending.code}`]
    case 'killed':
      return ['killed, with its whole process group']
    case 'timed out':
      return [`timed out after ${timeoutMs / 1000} s`]
    case 'aborted':
      return ['aborted']
  }
}

type Ending =
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'killed' }
  | { readonly type: 'timed out' }
  | { readonly type: 'aborted' }

/** Ends a running command at its exit, its timeout or an abort, whichever comes first. */
function supervise(gate: Gate, signal: AbortSignal, { after, timeoutMs }: RunLimits) {
  const { group } = gate.mark
  const ending = Promise.withResolvers<Ending>()
  const timers: (() => void)[] = []
  let isGone = false
  // The group id is surely ours only until the leader is reaped.
  const kill = () => {
    if (!isGone) signalGroup(group, 'SIGKILL')
  }
  const abort = () => {
    kill()
    ending.resolve({ type: 'aborted' })
  }

  timers.push(
    after(timeoutMs, () => {
      ending.resolve({ type: 'timed out' })
      if (!isGone) signalGroup(group, 'SIGTERM')
      timers.push(after(termGraceMs, kill))
    }),
  )
  void gate.gone.then(() => {
    isGone = true
  })
  void gate.exitCode.then((code) => {
    ending.resolve(code === null ? { type: 'killed' } : { type: 'exited', code })
    timers.push(after(drainMs, kill))
  })
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })

  return {
    /** How the command ended. The output ends at about the same time. */
    ending: ending.promise,
    /** Kills the rest of the group and waits until it is dead. */
    async close(): Promise<void> {
      for (const cancel of timers) cancel()
      signal.removeEventListener('abort', abort)
      kill()
      await gate.gone
      await untilDead(group)
    },
  }
}

/** Waits until the group is dead: a killed process dies only when it is next scheduled. */
async function untilDead(group: number): Promise<void> {
  for (let look = 0; look < looksMax; look++) if ((await livingMembers(group)).length === 0) return
}
