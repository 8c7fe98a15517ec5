import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { outcomeOutput } from '@holdfast/protocol'
import { openHoldfast } from '../packages/holdfast/src/entry/index.ts'

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
export async function benchShellOutput({ dir }: { readonly dir: string }): Promise<ShellOutputFigures> {
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
