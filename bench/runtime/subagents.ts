import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { ModelPart, Provider } from '@holdfast/core/ports'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import type { Measurement } from '../measurement.ts'
import { number, type Row } from '../table.ts'

const subagents = 8
const words = 200
const wordMs = 10
const usage = { input: 1, output: words, cacheRead: 0, cacheWrite: 0, cost: 0 }

export type SubagentFigures = {
  readonly loopDelayP99Ms: number
  /** The words of all subagents that arrived in the stream of the parent. */
  readonly deltas: number
}

/** A model that starts the subagents, and in each of them says a word every 10 ms. */
const provider: Provider = {
  async *stream({ messages }): AsyncGenerator<ModelPart> {
    const last = JSON.stringify(messages.at(-1))
    if (last.includes('Begin.')) {
      for (let part = 0; part < subagents; part++)
        yield { type: 'said', part, said: { type: 'call', tool: 'subagent', args: { task: `Speak ${part}.` } } }
      return yield { type: 'end', end: { type: 'complete', finish: 'calls', usage } }
    }
    const spoken = last.includes('Speak ') ? words : 1
    let text = ''
    for (let word = 0; word < spoken; word++) {
      if (spoken > 1) await delay(wordMs)
      text += `${word} `
      yield { type: 'delta', part: 0, kind: 'text', text: `${word} ` }
    }
    yield { type: 'said', part: 0, said: { type: 'text', text } }
    yield { type: 'end', end: { type: 'complete', finish: 'stop', usage } }
  },
}

/**
 * Measures the event loop while 8 subagents stream at once and one stream shows the whole tree. Throws if a delta of a
 * subagent is lost, duplicated or out of order.
 */
async function benchSubagents({ dir }: { readonly dir: string }): Promise<SubagentFigures> {
  await using holdfast = await openHoldfast({
    store: `sqlite:${join(dir, 'subagents.db')}`,
    environment: { HOLDFAST_HOME: dir },
    models: { 'bench/speaker': provider },
  })
  const session = await holdfast.startSession({ workdir: dir, model: 'bench/speaker' })
  const heard = new Map<string, number>()
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const frames = session.subscribe({ children: true })[Symbol.asyncIterator]()
  await frames.next() // the snapshot; every later frame is received
  const sent = session.sendPrompt('Begin.')
  loop.enable()
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done) throw new Error('the stream ended before the turn')
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    if (frame.type !== 'child' || !frame.frame) continue
    const { child, frame: own } = frame
    const next = heard.get(child) ?? 0
    if (own.type === 'draft') heard.set(child, own.index + 1)
    if (own.type !== 'delta') continue
    if (own.index !== next) throw new Error(`subagent ${child}: delta ${own.index} received as number ${next}`)
    heard.set(child, next + 1)
  }
  loop.disable()
  await frames.return?.()
  await sent
  const deltas = [...heard.values()].reduce((sum, count) => sum + count, 0)
  if (deltas !== subagents * words) throw new Error(`${deltas} of ${subagents * words} deltas received`)
  return { loopDelayP99Ms: loop.percentile(99) / 1e6 - 1, deltas } // the histogram counts from the timer's own 1 ms
}

/** Returns a row for each figure, beside its goal. */
export const measureSubagents: Measurement = async ({ dir }) => {
  const figures = await benchSubagents({ dir })
  return { figures, rows: rowsOf(figures) }
}

const rowsOf = (figures: SubagentFigures): readonly Row[] => [
  {
    what: 'event loop delay, 8 subagents streaming, p99',
    figure: `${number(figures.loopDelayP99Ms, 2)} ms, ${number(figures.deltas)} deltas in one stream, none lost`,
    goal: '< 20 ms',
    holds: figures.loopDelayP99Ms < 20,
  },
]
