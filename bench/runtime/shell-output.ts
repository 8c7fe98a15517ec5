import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { outcomeOutput } from '@holdfast/protocol'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import type { Measurement } from '../measurement.ts'
import { number, type Row } from '../table.ts'

const outputBytes = 200 * 1024 * 1024
const sampleMs = 20

export type ShellOutputFigures = {
  /** How much of the output the blob of the call has. */
  readonly storedBytes: number
  readonly outputBytes: number
  /** How much the memory of the process grew meanwhile, at its peak. */
  readonly grownBytes: number
  readonly loopDelayP99Ms: number
}

/** Runs a command that prints 200 MB in a session, with a client that follows the live output. */
async function benchShellOutput({ dir }: { readonly dir: string }): Promise<ShellOutputFigures> {
  const home = await mkdtemp(join(dir, 'shell-'))
  const environment = { HOLDFAST_HOME: home, PATH: process.env['PATH'], DEMO_PACE: '0' }
  await using holdfast = await openHoldfast({ store: `sqlite:${join(home, 'shell.db')}`, environment, sandbox: 'off' })
  const session = await holdfast.startSession({ workdir: home, model: 'demo/agent', approvals: 'none' })
  await session.prompt('run echo warm').text()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const atFirst = process.memoryUsage.rss()
  let peak = atFirst
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, sampleMs)
  delay.enable()
  let storedBytes = 0
  const frames = session.subscribe()
  await session.sendPrompt(`run yes 0123456789abcde | head -c ${outputBytes}`)
  for await (const frame of frames) {
    if (frame.type !== 'record') continue
    const { event } = frame.record
    if (event.type === 'call.settled') storedBytes = outcomeOutput(event.outcome).blob?.bytes ?? 0
    if (event.type === 'turn.ended') break
  }
  delay.disable()
  clearInterval(sampling)
  return { storedBytes, outputBytes, grownBytes: peak - atFirst, loopDelayP99Ms: delay.percentile(99) / 1e6 }
}

/** Returns a row for each figure, beside its goal. */
export const measureShellOutput: Measurement = async ({ dir }) => {
  const figures = await benchShellOutput({ dir })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: ShellOutputFigures): readonly Row[] => [
  {
    what: 'shell output of 200 MB: stored; memory at its peak, more than before',
    figure: `${number(figures.storedBytes / 1e6)} of ${number(figures.outputBytes / 1e6)} MB; ${number(figures.grownBytes / 1e6)} MB`,
    goal: 'all; < 128 MB',
    holds: figures.storedBytes >= figures.outputBytes && figures.grownBytes < 128e6,
  },
  {
    what: 'event loop delay meanwhile, p99',
    figure: `${number(figures.loopDelayP99Ms, 2)} ms`,
    goal: '< 20 ms',
    holds: figures.loopDelayP99Ms < 20,
  },
]
