import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { type Holdfast, openHoldfast, type Session } from '../packages/holdfast/src/entry/index.ts'
import { startFakeService } from './fake-service.ts'
import { median } from './median.ts'

const deltas = 2000
/** Not counted: the code is not compiled yet, the write-ahead log not grown. */
const warmSamples = 15

export type Overhead = {
  /** The model called directly, its stream drained. */
  readonly directMs: number
  /** From `sendPrompt` to the `turn.ended` a subscriber sees: durable, and every delta delivered on the way. */
  readonly turnMs: number
  readonly overheadMs: number
  readonly ofDirect: number
}
export type TurnOverheadFigures = {
  /** The answer comes faster than any service speaks, but not all at once: what someone who waits would notice. */
  readonly paced: Overhead
  /** The whole answer lies there at once: all is CPU, so this is the most a fragment can cost. */
  readonly atOnce: Overhead
}

/** What a turn costs beyond the model call inside it: same model object, same request, same bytes, taken in turns. */
export async function benchTurnOverhead({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<TurnOverheadFigures> {
  await using service = await startFakeService({ deltas })
  const anthropic = createAnthropic({ apiKey: 'none', baseURL: `${service.url}/v1` })
  const atOnce = listenIn(anthropic('at-once'))
  const paced = listenIn(anthropic('paced'))
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
  { model, lastOptions }: ListenedIn,
  samples: number,
): Promise<Overhead> {
  const direct: number[] = []
  const turns: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    const session = await begin()
    await timeTurn(session) // a session's first turn also stores what the model is told; it is told once, not each turn
    turns.push(await timeTurn(session))
    direct.push(await timeDirect(model, lastOptions()))
    await holdfast.stopSession(session.id) // the next has a new one, so that the request is as long as this
  }
  const directMs = median(direct)
  const turnMs = median(turns)
  return { directMs, turnMs, overheadMs: turnMs - directMs, ofDirect: (turnMs - directMs) / directMs }
}

type ListenedIn = { readonly model: LanguageModelV4; readonly lastOptions: () => LanguageModelV4CallOptions }

/** The same model, remembering what it was last asked: so that the direct call asks exactly what the turn asked. */
function listenIn(model: LanguageModelV4): ListenedIn {
  let last: LanguageModelV4CallOptions | null = null
  const listening: LanguageModelV4 = Object.assign(Object.create(model), {
    doStream(options: LanguageModelV4CallOptions) {
      last = options
      return model.doStream(options)
    },
  })
  const lastOptions = (): LanguageModelV4CallOptions => {
    if (!last) throw new Error('the turn called no model')
    return { ...last, abortSignal: new AbortController().signal } // the turn's own has fired by now
  }
  return { model: listening, lastOptions }
}

async function timeTurn(session: Session): Promise<number> {
  const frames = session.subscribe()[Symbol.asyncIterator]()
  await frames.next() // the snapshot: from here on it misses nothing
  let heard = 0
  const start = performance.now()
  const sent = session.sendPrompt('Say two thousand words.')
  for (;;) {
    const { value: frame, done } = await frames.next()
    if (done) throw new Error('the stream ended before the turn')
    if (frame.type === 'delta') heard++
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
  }
  await sent
  const tookMs = performance.now() - start
  await frames.return?.()
  return ifAllCame(heard, tookMs)
}

async function timeDirect(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<number> {
  let heard = 0
  const start = performance.now()
  const { stream } = await model.doStream(options)
  for await (const part of stream) if (part.type === 'text-delta') heard++
  return ifAllCame(heard, performance.now() - start)
}

function ifAllCame(heard: number, tookMs: number): number {
  if (heard !== deltas) throw new Error(`${heard} deltas came of ${deltas}`)
  return tookMs
}

if (import.meta.main) {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    console.log(await benchTurnOverhead({ dir, rounds: 5 }))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
