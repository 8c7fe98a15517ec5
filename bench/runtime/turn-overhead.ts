import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { type Holdfast, openHoldfast, type Session } from '../../packages/holdfast/src/entry/index.ts'
import { startFakeService } from '../fixtures/fake-service.ts'
import { type RememberedModel, rememberOptions } from '../fixtures/remembered-model.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number, type Row } from '../table.ts'

const deltas = 2000
const answer = Array.from({ length: deltas }, (_, index) => `word ${index} `).join('')
/** Warm-up samples, not counted: they compile code and grow the write-ahead log. */
const warmSamples = 15

export type Overhead = {
  /** A direct call of the model, with its stream read to the end. */
  readonly directMs: number
  /** From `sendPrompt` until a subscriber receives `turn.ended`: durable, with every delta delivered. */
  readonly turnMs: number
  readonly overheadMs: number
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
    paced: await compare(holdfast, () => begin('bench/paced'), paced, rounds * 6),
  }
}

async function compare(
  holdfast: Holdfast,
  begin: () => Promise<Session>,
  remembered: RememberedModel,
  samples: number,
): Promise<Overhead> {
  const direct: number[] = []
  const turns: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    const session = await begin()
    await timeTurn(session) // not counted: a session's first turn also stores the instructions
    // Every other sample begins with the direct call, which then repeats the request of the sample before.
    if (sample % 2 === 1) direct.push(await timeDirect(remembered))
    turns.push(await timeTurn(session))
    if (sample % 2 === 0) direct.push(await timeDirect(remembered))
    await holdfast.stopSession(session.id) // each sample uses a new session, so that all requests have the same length
  }
  const directMs = median(direct)
  const turnMs = median(turns)
  return { directMs, turnMs, overheadMs: turnMs - directMs }
}

async function timeTurn(session: Session): Promise<number> {
  const frames = session.subscribe()[Symbol.asyncIterator]()
  await frames.next() // the snapshot; every later frame is received
  let received = ''
  const start = performance.now()
  const sent = session.sendPrompt('Say two thousand words.')
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done) throw new Error('the stream ended before the turn')
    if (frame.type === 'delta') received += frame.text
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await sent
  const tookMs = performance.now() - start
  await frames.return?.()
  return checkAnswer(received, tookMs)
}

async function timeDirect({ model, lastOptions }: RememberedModel): Promise<number> {
  const options = lastOptions()
  let received = ''
  const start = performance.now()
  const { stream } = await model.doStream(options)
  for await (const part of stream) if (part.type === 'text-delta') received += part.delta
  return checkAnswer(received, performance.now() - start)
}

/** Several deltas may arrive as one, so their texts are compared. */
function checkAnswer(received: string, tookMs: number): number {
  if (received !== answer) throw new Error(`the answer was received as ${received.length} characters`)
  return tookMs
}

const goalMs = 3

const overheadRow = (what: string, { overheadMs, turnMs, directMs }: Overhead): Row => ({
  what,
  figure: `${number(overheadMs, 1)} ms (${number(turnMs, 1)} against ${number(directMs, 1)} ms)`,
  goal: `≤ ${goalMs} ms`,
  holds: overheadMs <= goalMs,
})

/** Returns a row for each figure, beside its goal. */
export const measureTurnOverhead: Measurement = async ({ dir, rounds }) => {
  const figures = await benchTurnOverhead({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: TurnOverheadFigures): readonly Row[] => [
  overheadRow('turn above a direct model call, 2,000 deltas, paced', figures.paced),
  overheadRow('the same, all deltas at once', figures.atOnce),
]
