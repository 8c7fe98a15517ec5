import { join } from 'node:path'
import type { Frame } from '@holdfast/protocol'
import { type Holdfast, openHoldfast, type Session } from '../../packages/holdfast/src/entry/index.ts'
import { livingMembers } from '../../packages/holdfast/src/tools/program/process-group.ts'
import { type FakeService, startFakeService } from '../fixtures/fake-service.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

/** A shell command with a child process. It prints a line once it runs. */
const command = 'sleep 60 & echo up; sleep 60'
const abortsPerRound = 5

export type AbortFigures = {
  /** Until the end of the turn is on disk and no process of the command's group is alive. */
  readonly shellMs: number
  /** Until the end of the turn is on disk and the model service has seen its stream closed. */
  readonly streamMs: number
  readonly worseMs: number
  /** The slowest sample of both kinds. */
  readonly slowestMs: number
}

/**
 * Measures the time from `abort` until the session is idle. A turn either streams a model's answer or runs calls, never
 * both. So two sessions run in parallel, one in a shell and one streaming, both are aborted at once, and the slower counts.
 */
async function benchAbort({ dir, rounds }: { readonly dir: string; readonly rounds: number }): Promise<AbortFigures> {
  await using service = await startFakeService({ deltas: 0 })
  const environment = {
    HOLDFAST_HOME: dir,
    PATH: process.env['PATH'],
    DEMO_PACE: '0',
    ANTHROPIC_API_KEY: 'none',
    ANTHROPIC_BASE_URL: service.url,
  }
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir, 'abort.db')}`, environment })
  const shell: number[] = []
  const stream: number[] = []
  for (let sample = -1; sample < rounds * abortsPerRound; sample++) {
    const [inShell, inStream] = await Promise.all([beginShell(holdfast, dir), beginStream(holdfast, dir, service)])
    const [shellMs, streamMs] = await Promise.all([inShell.abort(), inStream.abort()])
    if (sample < 0) continue // the first loads the libraries
    shell.push(shellMs)
    stream.push(streamMs)
  }
  const shellMs = median(shell)
  const streamMs = median(stream)
  return { shellMs, streamMs, worseMs: Math.max(shellMs, streamMs), slowestMs: Math.max(...shell, ...stream) }
}

type Running = {
  /** Aborts the turn and resolves with the milliseconds until the session was idle. */
  abort(): Promise<number>
}

async function beginShell(holdfast: Holdfast, workdir: string): Promise<Running> {
  const session = await holdfast.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
  const frames = follow(session)
  await session.sendPrompt(`run ${command}`)
  const group = await frames.until(processGroup)
  await frames.until((frame) => (frame.type === 'delta' && frame.kind === 'output' ? true : null))
  if ((await livingMembers(group)).length < 3) throw new Error('the command has no child')
  return {
    async abort() {
      const start = performance.now()
      await Promise.all([session.abort(), frames.until(turnEnded)])
      while ((await livingMembers(group)).length > 0);
      const tookMs = performance.now() - start
      await holdfast.stopSession(session.id)
      return tookMs
    },
  }
}

async function beginStream(holdfast: Holdfast, workdir: string, service: FakeService): Promise<Running> {
  const session = await holdfast.startSession({ workdir, model: 'anthropic/hang' })
  const frames = follow(session)
  await session.sendPrompt('Go on for ever.')
  await frames.until((frame) => (frame.type === 'delta' ? true : null))
  return {
    async abort() {
      const start = performance.now()
      await Promise.all([session.abort(), frames.until(turnEnded), service.closed.next()])
      const tookMs = performance.now() - start
      await holdfast.stopSession(session.id)
      return tookMs
    },
  }
}

const turnEnded = (frame: Frame): true | null =>
  frame.type === 'record' && frame.record.event.type === 'turn.ended' ? true : null

const processGroup = (frame: Frame): number | null =>
  frame.type === 'record' && frame.record.event.type === 'call.started'
    ? (frame.record.event.process?.group ?? null)
    : null

/** Reads frames until `look` returns something other than null. */
function follow(session: Session) {
  const frames = session.subscribe()[Symbol.asyncIterator]()
  return {
    async until<Found>(look: (frame: Frame) => Found | null): Promise<Found> {
      for (;;) {
        const { value: frame, done } = await frames.next()
        if (done) throw new Error('the stream ended first')
        const found = look(frame)
        if (found !== null) return found
      }
    },
  }
}

/** Returns a row for each figure, beside its goal. */
export const measureAbort: Measurement = async ({ dir, rounds }) => {
  const figures = await benchAbort({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: AbortFigures): readonly Row[] => [
  {
    what: 'abort until idle, slower of two',
    figure: `shell ${number(figures.shellMs, 1)} ms, stream ${number(figures.streamMs, 1)} ms, slowest ${number(figures.slowestMs, 1)} ms`,
    goal: '< 200 ms',
    holds: figures.worseMs < 200,
  },
]
