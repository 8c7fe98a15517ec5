import type { ModelEnd, ModelPart, ModelRequest, Provider, SaidPart } from '@holdfast/core/ports'
import type { Usage } from '@holdfast/protocol'
import { answerTo, type DemoAnswer } from './answer.ts'
import { failureEnd } from './failure.ts'
import { summaryTo } from './summary.ts'
import { cutBeginning } from './words.ts'

export type Sleep = (delayMs: number, options: { readonly signal: AbortSignal }) => Promise<void>

export type DemoOptions = {
  /** 1 is a human pace, 2 is half as fast, 0 does not wait at all. */
  readonly pace: number
  readonly sleep: Sleep
}

const wordMs = 25
const numberMs = 150

/** The built-in model: no key, no network, the real tools. It says that it is a demo. */
export function createDemoProvider({ pace, sleep }: DemoOptions): Provider {
  return {
    async *stream(request, { signal }) {
      const said: SaidPart[] = []
      const answer = request.purpose === 'summary' ? summaryTo(request) : answerTo(request)
      for (const { part, afterMs } of partsOf(answer)) {
        if (pace > 0 && afterMs > 0 && !signal.aborted) await untilAbort(sleep(afterMs * pace, { signal }), signal)
        if (signal.aborted) return yield { type: 'end', end: { type: 'aborted' } }
        if (part.type === 'said') said.push(part.said)
        yield part.type === 'end' ? { type: 'end', end: counted(part.end, request, said) } : part
      }
    },
  }
}

type Paced = { readonly part: ModelPart; readonly afterMs: number }

function* partsOf({ thinking, text, count, calls, failure }: DemoAnswer): Generator<Paced> {
  if (failure !== null && failure !== 'cut') return yield* [atOnce({ type: 'end', end: failureEnd(failure) })]

  let part = 0
  yield* spoken(part++, 'thinking', words(thinking), wordMs)
  if (failure === 'cut') {
    // Half an answer, never said to its end: exactly what a broken line leaves.
    yield* deltas(part, 'text', words(cutBeginning), wordMs)
    return yield* [atOnce({ type: 'end', end: failureEnd('cut') })]
  }
  if (text !== '') yield* spoken(part++, 'text', words(text), wordMs)
  if (count !== null) yield* spoken(part++, 'text', numbers(count), numberMs)
  for (const { tool, args } of calls) {
    yield { part: { type: 'delta', part, kind: 'input', text: JSON.stringify(args), tool }, afterMs: wordMs }
    yield atOnce({ type: 'said', part: part++, said: { type: 'call', tool, args } })
  }
  yield atOnce({ type: 'end', end: { type: 'complete', finish: calls.length > 0 ? 'calls' : 'stop', usage: noTokens } })
}

function* spoken(
  part: number,
  type: 'text' | 'thinking',
  pieces: readonly string[],
  afterMs: number,
): Generator<Paced> {
  yield* deltas(part, type, pieces, afterMs)
  yield atOnce({ type: 'said', part, said: { type, text: pieces.join('') } })
}

function* deltas(
  part: number,
  kind: 'text' | 'thinking',
  pieces: readonly string[],
  afterMs: number,
): Generator<Paced> {
  for (const text of pieces) yield { part: { type: 'delta', part, kind, text }, afterMs }
}

const atOnce = (part: ModelPart): Paced => ({ part, afterMs: 0 })

const words = (text: string): readonly string[] => text.match(/\s*\S+\s*$|\s*\S+/g) ?? []

function numbers({ from, to }: { readonly from: number; readonly to: number }): readonly string[] {
  const pieces = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  return pieces.length === 0 ? [`I have counted to ${to}.`] : pieces.map((n) => (n === to ? `${n}.` : `${n}, `))
}

/** A handed-in sleep may be deaf; an abort is not made to wait for it. */
function untilAbort(sleeping: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((wake) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      wake()
    }
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
    sleeping.then(done, done)
  })
}

const noTokens: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }

/** About four characters make a token: an estimate, but the same one each time. It costs nothing. */
function counted(end: ModelEnd, request: ModelRequest, said: readonly SaidPart[]): ModelEnd {
  if (end.type !== 'complete') return end
  const told = JSON.stringify([request.system, request.tools, request.messages], (_, value: unknown) =>
    value instanceof Uint8Array ? `${value.length} bytes` : value,
  )
  return { ...end, usage: { ...noTokens, input: tokensIn(told), output: tokensIn(JSON.stringify(said)) } }
}

const tokensIn = (text: string): number => Math.ceil(text.length / 4)
