import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnthropic } from '@ai-sdk/anthropic'
import { type Holdfast, openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { startFakeService } from '../fixtures/fake-service.ts'
import { beats, latenessOf, staggerMs } from '../fixtures/metronome.ts'
import type { Measurement } from '../measurement.ts'
import { number, type Row } from '../table.ts'

const sessions = 100
const turns = 5

export type StreamingFigures = { readonly loopDelayP99Ms: number; readonly words: number }

/**
 * Measures the event loop while many sessions stream at once, each with a subscriber. Throws if a word is lost, duplicated
 * or out of order.
 */
async function benchStreaming({ dir }: { readonly dir: string }): Promise<StreamingFigures> {
  await using service = await startFakeService({ deltas: beats })
  await using holdfast = await openHoldfast({
    store: `sqlite:${join(dir, 'streaming.db')}`,
    environment: { HOLDFAST_HOME: dir },
    models: { 'bench/metronome': createAnthropic({ apiKey: 'none', baseURL: `${service.url}/v1` })('metronome') },
  })
  const listeners = await Promise.all(Array.from({ length: sessions }, () => listen(holdfast, dir)))
  await Promise.all(listeners.map(({ turn }) => turn())) // warm-up: compiles code, opens connections, stores instructions
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const words: number[] = []
  await Promise.all(
    listeners.map(async ({ turn }, index) => {
      await delay(staggerMs(index))
      for (let round = 0; round < turns; round++) words.push(await turn())
    }),
  )
  loop.disable()
  await Promise.all(listeners.map(({ leave }) => leave()))
  const sum = words.reduce((all, some) => all + some, 0)
  return { loopDelayP99Ms: loop.percentile(99) / 1e6 - 1, words: sum } // the histogram counts from the timer's own 1 ms
}

async function listen(holdfast: Holdfast, workdir: string) {
  const session = await holdfast.startSession({ workdir, model: 'bench/metronome' })
  const frames = session.subscribe()[Symbol.asyncIterator]()
  await frames.next() // the snapshot; every later frame is received
  /** Runs a turn and returns how many words it had. */
  const turn = async (): Promise<number> => {
    let [words, deltas] = [0, 0]
    const sent = session.sendPrompt('Say a hundred words.')
    for (;;) {
      const { value: frame, done } = await frames.next()
      if (done) throw new Error('the stream ended before the turn')
      if (frame.type === 'delta') {
        if (frame.index !== deltas++) throw new Error(`delta ${frame.index} was received as number ${deltas - 1}`)
        words += latenessOf(frame.text, words).length
      }
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    }
    await sent
    if (words !== beats) throw new Error(`${words} of ${beats} words received`)
    return words
  }
  return { turn, leave: async () => void (await frames.return?.()) }
}

/** Returns a row for each figure, beside its goal. */
export const measureStreaming: Measurement = async ({ dir }) => {
  const figures = await benchStreaming({ dir })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = ({ loopDelayP99Ms, words }: StreamingFigures): readonly Row[] => [
  {
    what: 'event loop delay, 100 sessions streaming, p99',
    figure: `${number(loopDelayP99Ms, 2)} ms, ${number(words)} words, all in order`,
    goal: '< 20 ms',
    holds: loopDelayP99Ms < 20,
  },
]
