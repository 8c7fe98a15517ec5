import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { type Holdfast, openHoldfast, type Session } from '../../packages/holdfast/src/entry/index.ts'
import { startFakeService } from '../fixtures/fake-service.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const deltas = 2000
/** Warm-up samples, not counted: they compile code and grow the write-ahead log. */
const warmSamples = 15

export type Overhead = {
  /** A direct call of the model, with its stream read to the end. */
  readonly directMs: number
  /** From `sendPrompt` until a subscriber receives `turn.ended`: durable, with every delta delivered. */
  readonly turnMs: number
  readonly overheadMs: number
  readonly ofDirect: number
}
export type TurnOverheadFigures = {
  /** The answer is streamed, faster than a real service does: the overhead a user would notice. */
  readonly paced: Overhead
  /** The whole answer is available at once, so all the time is CPU time: the highest cost of a delta. */
  readonly atOnce: Overhead
}

/** Measures the overhead of a turn over a direct model call with the same request and the same bytes, alternating. */
async function benchTurnOverhead({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<TurnOverheadFigures> {
  await using service = await startFakeService({ deltas })
  const anthropic = createAnthropic({ apiKey: 'none', baseURL: `${service.url}/v1` })
  const atOnce = rememberOptions(anthropic('at-once'))
  const paced = rememberOptions(anthropic('paced'))
  await using holdfast = await openHoldfast({
    store: `sqlite:${join(dir, 'overhead.db')}`,
    environment: { HOLDFAST_HOME: dir },
    models: { 'bench/at-once': atOnce.model, 'bench/paced': paced.model },
  })
  const begin = (model: string) => holdfast.startSession({ workdir: dir, model })
  await compare(holdfast, () => begin('bench/at-once'), atOnce, warmSamples)
  return {
    atOnce: await compare(holdfast, () => begin('bench/at-once'), atOnce, rounds * 10),
    paced: await compare(holdfast, () => begin('bench/paced'), paced, rounds * 3),
  }
}

async function compare(
  holdfast: Holdfast,
  begin: () => Promise<Session>,
  { model, lastOptions }: RememberedModel,
  samples: number,
): Promise<Overhead> {
  const direct: number[] = []
  const turns: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    const session = await begin()
    await timeTurn(session) // not counted: a session's first turn also stores the instructions
    turns.push(await timeTurn(session))
    direct.push(await timeDirect(model, lastOptions()))
    await holdfast.stopSession(session.id) // each sample uses a new session, so that all requests have the same length
  }
  const directMs = median(direct)
  const turnMs = median(turns)
  return { directMs, turnMs, overheadMs: turnMs - directMs, ofDirect: (turnMs - directMs) / directMs }
}

type RememberedModel = { readonly model: LanguageModelV4; readonly lastOptions: () => LanguageModelV4CallOptions }

/** Wraps a model and remembers its last options, so that the direct call can repeat the request of the turn. */
function rememberOptions(model: LanguageModelV4): RememberedModel {
  let last: LanguageModelV4CallOptions | null = null
  const remembering: LanguageModelV4 = Object.assign(Object.create(model), {
    doStream(options: LanguageModelV4CallOptions) {
      last = options
      return model.doStream(options)
    },
  })
  const lastOptions = (): LanguageModelV4CallOptions => {
    if (!last) throw new Error('the turn called no model')
    return { ...last, abortSignal: new AbortController().signal } // the signal of the turn is already aborted
  }
  return { model: remembering, lastOptions }
}

async function timeTurn(session: Session): Promise<number> {
  const frames = session.subscribe()[Symbol.asyncIterator]()
  await frames.next() // the snapshot; every later frame is received
  let received = 0
  const start = performance.now()
  const sent = session.sendPrompt('Say two thousand words.')
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done) throw new Error('the stream ended before the turn')
    if (frame.type === 'delta') received++
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await sent
  const tookMs = performance.now() - start
  await frames.return?.()
  return checkDeltas(received, tookMs)
}

async function timeDirect(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<number> {
  let received = 0
  const start = performance.now()
  const { stream } = await model.doStream(options)
  for await (const part of stream) if (part.type === 'text-delta') received++
  return checkDeltas(received, performance.now() - start)
}

function checkDeltas(received: number, tookMs: number): number {
  if (received !== deltas) throw new Error(`${received} of ${deltas} deltas received`)
  return tookMs
}

const overheadRow = (what: string, { overheadMs, ofDirect, turnMs, directMs }: Overhead): Row => ({
  what,
  figure: `${number(overheadMs, 1)} ms = ${number(ofDirect * 100, 1)} % (${number(turnMs, 1)} against ${number(directMs, 1)} ms)`,
  goal: '< 5 ms and < 10 %',
  holds: overheadMs < 5 && ofDirect < 0.1,
})

/** Returns a row for each figure, beside its goal. */
export const measureTurnOverhead: Measurement = async ({ dir, rounds }) => {
  const figures = await benchTurnOverhead({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: TurnOverheadFigures): readonly Row[] => [
  overheadRow('turn compared with a direct model call, 2,000 deltas', figures.paced),
  overheadRow('the same, all deltas at once', figures.atOnce),
]
