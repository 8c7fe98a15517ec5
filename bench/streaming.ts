import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { type Holdfast, openHoldfast, type Session } from '../packages/holdfast/src/entry/index.ts'
import { startFakeService } from './fake-service.ts'

/** A word each 10 ms, one second long: what the fake service calls a metronome. */
const beats = 100
const beatMs = 10
/** Its multiples fall evenly between whole numbers. */
const golden = (Math.sqrt(5) - 1) / 2

export type StreamingFigures = {
  /** From the service's first word to a subscriber's first delta, over all turns. */
  readonly firstP50Ms: number
  readonly firstP99Ms: number
  /** The same of every word. */
  readonly everyP99Ms: number
  readonly loopDelayP99Ms: number
  readonly deltas: number
  /** The first words again, as many at once, by whoever reads the model's own stream and nothing else. */
  readonly directP50Ms: number
  readonly directP99Ms: number
}

/**
 * Many sessions that stream at once, each watched by a subscriber. The clock of a word starts in the service, in a process
 * of its own, before it is written to the socket: what the machine takes to carry it is counted too. Throws when a delta
 * is lost, doubled or out of order.
 */
export async function benchStreaming({
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
  await Promise.all(listeners.map(({ turn }) => turn())) // code compiled, connections open, what the model is told stored
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const lags = await inTurns(
    listeners.map(({ turn }) => turn),
    turns,
  )
  loop.disable()
  await Promise.all(listeners.map(({ leave }) => leave()))
  const direct = Array.from({ length: sessions }, () => () => hearDirect(model))
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

/** Each so often, beside all others; people do not speak in chorus, so each begins at another moment. */
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
  await frames.next() // the snapshot: from here on it misses nothing
  return { turn: () => hearTurn(session, frames), leave: async () => void (await frames.return?.()) }
}

/** How late each word came, in order. */
async function hearTurn(session: Session, frames: ReturnType<typeof framesOf>): Promise<readonly number[]> {
  const late: number[] = []
  const sent = session.sendPrompt('Say a hundred words.')
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done) throw new Error('the stream ended before the turn')
    if (frame.type === 'delta') {
      const said = Number.parseInt(frame.text, 10)
      if (said !== late.length || frame.index !== late.length)
        throw new Error(`word ${said}, delta ${frame.index}, came as number ${late.length}`)
      late.push(latenessOf(frame.text))
    }
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await sent
  if (late.length !== beats) throw new Error(`${late.length} deltas came of ${beats}`)
  return late
}

async function hearDirect(model: LanguageModelV4): Promise<readonly number[]> {
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

if (import.meta.main) {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    console.log('50 sessions', await benchStreaming({ dir, sessions: 50, turns: 10 }))
    console.log('100 sessions', await benchStreaming({ dir, sessions: 100, turns: 5 }))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
