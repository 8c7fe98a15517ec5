import { setTimeout as delay } from 'node:timers/promises'
import type { ModelEnd, ModelPart, ModelRequest, Provider, SaidPart } from '@holdfast/core/ports'
import type { GivenFacts, ModelName, Usage } from '@holdfast/protocol'
import type { Environment } from '../../system/home.ts'
import { buildAnswer, cutBeginning, type DemoAnswer, type DemoFailure } from './answer.ts'
import { buildSummary } from './summary.ts'

export const demoModel: ModelName = 'demo/agent'

export const demoFacts: GivenFacts = {
  title: 'Demo, built in',
  price: { input: 0, output: 0 },
  thinkingLevels: ['off', 'low', 'medium', 'high'],
  tools: true,
}

/** Creates the demo with the pace of `DEMO_PACE`. */
export function createDemo(environment: Environment): Provider {
  const pace = Number(environment['DEMO_PACE']?.trim() || '1')
  return createDemoProvider({
    pace: Number.isFinite(pace) && pace >= 0 ? pace : 1,
    sleep: (delayMs, options) => delay(delayMs, undefined, options),
  })
}

type DemoOptions = {
  /** A factor for all delays: 1 is a human pace, 2 is half as fast, 0 does not wait. */
  readonly pace: number
  readonly sleep: (delayMs: number, options: { readonly signal: AbortSignal }) => Promise<void>
}

const wordMs = 25
const numberMs = 150

/** The built-in model: it needs no key and no network, and calls the real tools. */
export function createDemoProvider({ pace, sleep }: DemoOptions): Provider {
  return {
    async *stream(request, { signal }) {
      const said: SaidPart[] = []
      const answer = request.purpose === 'summary' ? buildSummary(request) : buildAnswer(request)
      for (const { part, afterMs } of streamAnswer(answer)) {
        if (pace > 0 && afterMs > 0 && !signal.aborted) await waitOrAbort(sleep(afterMs * pace, { signal }), signal)
        if (signal.aborted) return yield { type: 'end', end: { type: 'aborted' } }
        if (part.type === 'said') said.push(part.said)
        yield part.type === 'end' ? { type: 'end', end: addUsage(part.end, request, said) } : part
      }
    },
  }
}

type Paced = { readonly part: ModelPart; readonly afterMs: number }

function* streamAnswer({ thinking, text, count, calls, failure }: DemoAnswer): Generator<Paced> {
  if (failure !== null && failure !== 'cut') return yield atOnce({ type: 'end', end: failureEnd(failure) })

  let part = 0
  yield* streamPart(part++, 'thinking', splitWords(thinking), wordMs)
  if (failure === 'cut') {
    // Deltas without a whole part, as a broken connection leaves them.
    yield* deltas(part, 'text', splitWords(cutBeginning), wordMs)
    return yield atOnce({ type: 'end', end: failureEnd('cut') })
  }
  if (text !== '') yield* streamPart(part++, 'text', splitWords(text), wordMs)
  if (count !== null) yield* streamPart(part++, 'text', countNumbers(count), numberMs)
  for (const { tool, args } of calls) {
    yield { part: { type: 'delta', part, kind: 'input', text: JSON.stringify(args), tool }, afterMs: wordMs }
    yield atOnce({ type: 'said', part: part++, said: { type: 'call', tool, args } })
  }
  yield atOnce({ type: 'end', end: { type: 'complete', finish: calls.length > 0 ? 'calls' : 'stop', usage: noTokens } })
}

type Kind = 'text' | 'thinking'

function* streamPart(part: number, type: Kind, pieces: readonly string[], afterMs: number): Generator<Paced> {
  yield* deltas(part, type, pieces, afterMs)
  yield atOnce({ type: 'said', part, said: { type, text: pieces.join('') } })
}

function* deltas(part: number, kind: Kind, pieces: readonly string[], afterMs: number): Generator<Paced> {
  for (const text of pieces) yield { part: { type: 'delta', part, kind, text }, afterMs }
}

const atOnce = (part: ModelPart): Paced => ({ part, afterMs: 0 })

const splitWords = (text: string): readonly string[] =>
  text.trim() === '' ? [] : (text.match(/\s*\S+(?:\s+$)?/g) ?? [])

function countNumbers({ from, to }: { readonly from: number; readonly to: number }): readonly string[] {
  const pieces = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  return pieces.length === 0 ? [`I have counted to ${to}.`] : pieces.map((n) => (n === to ? `${n}.` : `${n}, `))
}

/** Ends at an abort even if `sleep` ignores its signal. */
function waitOrAbort(sleeping: Promise<void>, signal: AbortSignal): Promise<void> {
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

/** Adds estimated usage: four characters a token, at no cost. */
function addUsage(end: ModelEnd, request: ModelRequest, said: readonly SaidPart[]): ModelEnd {
  if (end.type !== 'complete') return end
  const input = JSON.stringify([request.system, request.tools, request.messages], (_, value: unknown) =>
    value instanceof Uint8Array ? `${value.length} bytes` : value,
  )
  return { ...end, usage: { ...noTokens, input: countTokens(input), output: countTokens(JSON.stringify(said)) } }
}

const countTokens = (text: string): number => Math.ceil(text.length / 4)

const failures: Readonly<Record<DemoFailure, readonly [happened: string, next: string]>> = {
  rejected_key: ['The demo simulates a rejected key.', 'With a real model: check the key, then continue.'],
  rate_limited: ['The demo simulates a rate limit.', 'With a real model: wait a little, then continue.'],
  auth_failed: ['The demo simulates refused access.', 'With a real model: use another key or model.'],
  unreachable: ['The demo simulates an unreachable service.', 'With a real model: check the network, then continue.'],
  raw_dump: ['The demo simulates an unclear error.', 'With a real model: the log has what it sent.'],
  cut: ['The demo simulates a broken connection.', 'Continue to resume the answer.'],
}

/** Ends the call as `fail` asks, with the same kind and retries as a real failure. */
function failureEnd(failure: DemoFailure): ModelEnd {
  const [happened, next] = failures[failure]
  const kind = failure === 'cut' ? 'unreachable' : failure
  return {
    type: 'failed',
    fault: { kind, message: `${happened} ${next}`, detail: `demo: fail ${failure}` },
    happened,
    retryable: kind === 'rate_limited' || kind === 'unreachable',
    retryAfterMs: null,
    usage: null,
  }
}
