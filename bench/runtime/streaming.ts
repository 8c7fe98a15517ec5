import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { type Holdfast, openHoldfast, type Session } from '../../packages/holdfast/src/entry/index.ts'
import { startFakeService } from '../fixtures/fake-service.ts'
import type { Measurement } from '../measurement.ts'
import { number, type Row } from '../table.ts'

/** The fake service's model `metronome`: a word every 10 ms for one second. */
const beats = 100
const beatMs = 10
/** The fractional parts of its multiples are evenly distributed. */
const golden = (Math.sqrt(5) - 1) / 2

export type StreamingFigures = {
  /** From the first word the service sends to the first delta a subscriber receives, over all turns. */
  readonly firstP50Ms: number
  readonly firstP99Ms: number
  /** The same for every word. */
  readonly everyP99Ms: number
  readonly loopDelayP99Ms: number
  readonly deltas: number
  /** The same for the first word, with as many readers of the model library's own stream. */
  readonly directP50Ms: number
  readonly directP99Ms: number
}

/**
 * Measures many sessions that stream at once, each with a subscriber. The clock of a word starts in the service process,
 * before it is written to the socket, so the time on the socket counts too. Throws if a delta is lost, duplicated or out
 * of order.
 */
async function benchStreaming({
  dir,
  sessions,
  turns,
}: {
  readonly dir: string
  readonly sessions: number
  readonly turns: number
}): Promise<StreamingFigures> {
  await using service = await startFakeService({ deltas: beats })
  const model = createAnthropic({ apiKey: 'none', baseURL: `${service.url}/v1` })('metronome')
  await using holdfast = await openHoldfast({
    store: `sqlite:${join(dir, `streaming-${sessions}.db`)}`,
    environment: { HOLDFAST_HOME: dir },
    models: { 'bench/metronome': model },
  })
  const listeners = await Promise.all(Array.from({ length: sessions }, () => listen(holdfast, dir)))
  await Promise.all(listeners.map(({ turn }) => turn())) // warm-up: compiles code, opens connections, stores instructions
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const lags = await inTurns(
    listeners.map(({ turn }) => turn),
    turns,
  )
  loop.disable()
  await Promise.all(listeners.map(({ leave }) => leave()))
  const direct = Array.from({ length: sessions }, () => () => streamDirectly(model))
  await Promise.all(direct.map((turn) => turn()))
  const directFirst = (await inTurns(direct, turns)).map(([lag = Number.NaN]) => lag)
  const first = lags.map(([lag = Number.NaN]) => lag)
  return {
    firstP50Ms: percentile(first, 0.5),
    firstP99Ms: percentile(first, 0.99),
    everyP99Ms: percentile(lags.flat(), 0.99),
    loopDelayP99Ms: loop.percentile(99) / 1e6 - 1, // the histogram counts from the timer's own 1 ms
    deltas: lags.flat().length,
    directP50Ms: percentile(directFirst, 0.5),
    directP99Ms: percentile(directFirst, 0.99),
  }
}

/** Runs `turns` rounds of each function, all in parallel. The starts are staggered, as those of real users are. */
async function inTurns(
  all: readonly (() => Promise<readonly number[]>)[],
  turns: number,
): Promise<readonly (readonly number[])[]> {
  const lags: (readonly number[])[] = []
  await Promise.all(
    all.map(async (turn, index) => {
      await delay(((index * golden) % 1) * beats * beatMs)
      for (let round = 0; round < turns; round++) lags.push(await turn())
    }),
  )
  return lags
}

async function listen(holdfast: Holdfast, workdir: string) {
  const session = await holdfast.startSession({ workdir, model: 'bench/metronome' })
  const frames = session.subscribe()[Symbol.asyncIterator]()
  await frames.next() // the snapshot; every later frame is received
  return { turn: () => streamTurn(session, frames), leave: async () => void (await frames.return?.()) }
}

/** Runs a turn and returns the delay of each word, in order. */
async function streamTurn(session: Session, frames: ReturnType<typeof framesOf>): Promise<readonly number[]> {
  const late: number[] = []
  const sent = session.sendPrompt('Say a hundred words.')
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done) throw new Error('the stream ended before the turn')
    if (frame.type === 'delta') {
      const index = Number.parseInt(frame.text, 10)
      if (index !== late.length || frame.index !== late.length)
        throw new Error(`word ${index}, delta ${frame.index}, received as number ${late.length}`)
      late.push(latenessOf(frame.text))
    }
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await sent
  if (late.length !== beats) throw new Error(`${late.length} of ${beats} deltas received`)
  return late
}

async function streamDirectly(model: LanguageModelV4): Promise<readonly number[]> {
  const late: number[] = []
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say a hundred words.' }] }]
  const { stream } = await model.doStream({ prompt })
  for await (const part of stream) if (part.type === 'text-delta') late.push(latenessOf(part.delta))
  return late
}

const latenessOf = (word: string): number =>
  performance.timeOrigin + performance.now() - Number(word.slice(word.indexOf('@') + 1))

const framesOf = (session: Session) => session.subscribe()[Symbol.asyncIterator]()

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length * part)] ?? Number.NaN

/** Returns a row for each figure, beside its goal. */
export const measureStreaming: Measurement = async ({ dir }) => {
  const fifty = await benchStreaming({ dir, sessions: 50, turns: 10 })
  const hundred = await benchStreaming({ dir, sessions: 100, turns: 5 })
  const figures = { fifty, hundred }
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = ({
  fifty,
  hundred,
}: {
  readonly fifty: StreamingFigures
  readonly hundred: StreamingFigures
}): readonly Row[] => [
  {
    what: 'first word to first delta, 50 sessions of 100 words/s',
    figure: `p50 ${number(fifty.firstP50Ms, 2)} ms, p99 ${number(fifty.firstP99Ms, 2)} ms ; direct model call ${number(fifty.directP50Ms, 2)} and ${number(fifty.directP99Ms, 2)} ms`,
    goal: 'p99 < 2 ms',
    holds: fifty.firstP99Ms < 2,
  },
  {
    what: 'event loop delay, 100 sessions streaming, p99',
    figure: `${number(hundred.loopDelayP99Ms, 2)} ms, ${number(hundred.deltas)} deltas, all in order`,
    goal: '< 20 ms',
    holds: hundred.loopDelayP99Ms < 20,
  },
]
