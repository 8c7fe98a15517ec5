import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { orThrow, type SessionHandle } from '@holdfast/protocol'
import { openHoldfast } from '../../packages/holdfast/src/open.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const fixture = fileURLToPath(new URL('../../packages/holdfast/src/nodes/owner-process.fixture.ts', import.meta.url))

export type TakeOverFigures = {
  /** From the end of the owner, or its stop, to the answer of the first command that was sent then. */
  readonly killedMs: number
  readonly stoppedMs: number
  /** A command to a session of another process, beside one to a session of this process. */
  readonly forwardedMs: number
  readonly hereMs: number
}

/** Measures what it costs that another process owns a session, and how long its death is noticed. */
async function benchTakeOver({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<TakeOverFigures> {
  const killed: number[] = []
  const stopped: number[] = []
  const forwarded: number[] = []
  const here: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [signal, times] of [
      ['SIGKILL', killed],
      ['SIGSTOP', stopped],
    ] as const) {
      const home = await mkdtemp(join(dir, 'take-over-'))
      const owner = spawn(process.execPath, [fixture, home, process.env['PATH'] ?? ''], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(owner, 'exit')
      const id = await sessionOf(owner)
      const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
      await using holdfast = await openHoldfast({ environment, model: 'demo/agent' })
      const handle = orThrow(await holdfast.handles.open(id))
      forwarded.push(await timeOf(handle))
      owner.kill(signal)
      times.push(await timeOf(handle))
      here.push(await timeOf(handle))
      owner.kill('SIGKILL')
      await ended
    }
  }
  return {
    killedMs: median(killed),
    stoppedMs: median(stopped),
    forwardedMs: median(forwarded),
    hereMs: median(here),
  }
}

async function timeOf(handle: SessionHandle): Promise<number> {
  const startedMs = performance.now()
  orThrow(await handle.submit({ type: 'rename', title: `At ${startedMs}` }))
  return performance.now() - startedMs
}

async function sessionOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('stdout is a pipe')
  for await (const line of createInterface({ input: stdout })) if (line.startsWith('session ')) return line.slice(8)
  throw new Error('the owner ended early')
}

/** Returns a row for each figure, beside its goal. */
export const measureTakeOver: Measurement = async ({ dir, rounds }) => {
  const figures = await benchTakeOver({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: TakeOverFigures): readonly Row[] => [
  {
    what: 'command to a session of another process',
    figure: `${number(figures.forwardedMs, 1)} ms (${number(figures.hereMs, 1)} ms in this process)`,
    goal: '',
    holds: null,
  },
  {
    what: 'command answered after its owner was killed',
    figure: `${number(figures.killedMs)} ms (${number(figures.stoppedMs)} ms if it was stopped)`,
    goal: '< 2,000 ms',
    holds: figures.killedMs < 2000,
  },
]
