import type { Clock } from '@holdfast/core/ports'
import type { ProcessMark } from '@holdfast/protocol'
import { endEscaped, signalGroup, tellEscaped, terminateGroup, untilDead } from '../program/process-group.ts'
import type { Gate } from './gate.ts'
import { findEndMark } from './output/end-mark.ts'
import { followOutput } from './output/follow-output.ts'
import type { OutputFile } from './output/output-file.ts'

/** How long a command may still write after SIGTERM. */
const termGraceMs = 2000
/** How long the end of the output may take to reach the file once the command has ended, and how often we look. */
const drainMs = 5000
const drainLookMs = 2

/** How a command ended. */
type Ending =
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'killed' | 'timed out' | 'aborted' | 'stopped' | 'too long' }

/** A command that has ended, with all processes of its group. */
export type EndedCommand = {
  readonly ending: Ending
  /** How much of the file is its output. */
  readonly bytes: number
  /** A sentence on processes that left the group and still run. */
  readonly leftRunning: string | undefined
}

/** A command that runs in its own process group and writes to a file. */
export interface RunningCommand {
  readonly mark: ProcessMark
  readonly output: OutputFile
  /** Resolves once the command and its whole group are dead, and what it needed is released. */
  readonly ended: Promise<EndedCommand>
  /** Returns how much of the file is surely output so far: not the mark that follows it. */
  size(): Promise<number>
  /** Ends the command: `stopped` and `timed out` let it clean up for 2 seconds, the others kill it at once. */
  end(why: 'aborted' | 'stopped' | 'timed out' | 'too long'): void
  /**
   * Lets the command run on in the background, without a live view. `end` then also kills its processes that left the group,
   * because no result reports them.
   */
  detach(): void
}

type RunOptions = {
  readonly after: Clock['after']
  readonly show: (text: string) => void
  /** A command that writes more is killed. */
  readonly bytesMax: number
}

/** Opens the gate and supervises the command until it has ended. */
export function runCommand(gate: Gate, output: OutputFile, { after, show, bytesMax }: RunOptions): RunningCommand {
  const { group } = gate.mark
  const ending = Promise.withResolvers<Ending>()
  let isGone = false
  let isDetached = false
  let cancelKill: () => void = () => undefined
  // The group id is surely ours only until the leader is reaped.
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    if (isGone) return
    if (name === 'SIGTERM' && gate.wrapper !== undefined) void terminateGroup(group, gate.wrapper)
    else signalGroup(group, name)
  }
  void gate.gone.then(() => {
    isGone = true
  })
  const end = (type: 'aborted' | 'stopped' | 'timed out' | 'too long') => {
    const isGentle = type === 'stopped' || type === 'timed out'
    signal(isGentle ? 'SIGTERM' : 'SIGKILL')
    if (!isGentle) return ending.resolve({ type })
    cancelKill()
    cancelKill = after(termGraceMs, () => signal('SIGKILL'))
    void gate.exitCode.then(() => ending.resolve({ type }))
    why ??= type
  }
  let why: 'stopped' | 'timed out' | null = null
  const live = followOutput(output, { after, show, bytesMax, mark: gate.endMark, onTooLong: () => end('too long') })
  void gate.exitCode.then((code) => {
    if (why !== null) ending.resolve({ type: why })
    else ending.resolve(code === null ? { type: 'killed' } : { type: 'exited', code })
  })

  async function supervise(): Promise<EndedCommand> {
    const how = await ending.promise
    live.stop()
    // The last look may have been after the mark was written, so the search begins before it.
    const from = Math.max(0, live.size() - 1024 * 1024)
    const isKilled = how.type === 'aborted' || how.type === 'too long'
    const code = isKilled ? null : await gate.exitCode
    const marked = code === null ? null : await untilMarked(gate, output, from, after)
    cancelKill()
    signal('SIGKILL')
    await gate.released
    await untilDead(group)
    if (isDetached && how.type !== 'exited' && how.type !== 'killed') await endEscaped(gate.mark)
    const bytes = marked ?? (await findEndMark(output, gate.endMark, from)) ?? (await output.size())
    await live.finish(bytes)
    return { ending: how, bytes, leftRunning: await tellEscaped(gate.mark) }
  }
  gate.open()
  const ended = supervise()
  return {
    mark: gate.mark,
    output,
    ended,
    end,
    detach() {
      isDetached = true
      live.hide()
    },
    async size() {
      const size = await output.size()
      const start = Math.max(0, size - gate.endMark.length)
      return (await findEndMark(output, gate.endMark.slice(0, 8), start)) ?? size
    },
  }
}

/** Waits until the mark after the output is in the file. Returns its place, or null if it does not come. */
async function untilMarked(
  gate: Gate,
  output: OutputFile,
  from: number,
  after: Clock['after'],
): Promise<number | null> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  const cancel = after(drainMs, over)
  void gate.gone.then(over)
  try {
    for (;;) {
      const wasOver = isOver
      const found = await findEndMark(output, gate.endMark, from)
      if (found !== null || wasOver) return found
      await new Promise<void>((resolve) => void after(drainLookMs, resolve))
    }
  } finally {
    cancel()
  }
}

/** Says how a command ended, unless it simply worked. */
export function endingWords(ending: EndedCommand['ending'], timeout = 0): readonly string[] {
  switch (ending.type) {
    case 'exited':
      return ending.code === 0 ? [] : [`exit code ${ending.code}`]
    case 'killed':
      return ['killed, with its whole process group']
    case 'timed out':
      return [`timed out after ${timeout} s`]
    case 'too long':
      return ['killed: it wrote more output than can be kept']
    default:
      return [ending.type]
  }
}

/** Says how a command ended, also if it simply worked. */
export const howEnded = (ending: EndedCommand['ending']): string => endingWords(ending).join(' ') || 'exit code 0'
