import type { ModelEnd, ModelPart, ModelRequest, Models, Provider, SaidPart } from '@holdfast/core/ports'
import { done, type Usage } from '@holdfast/protocol'
import { createGate, type Gate } from './gate.ts'

/** What a provider says about a part of an answer, such as its signature. */
export type PartMeta = NonNullable<SaidPart['meta']>

/** One step of a scripted answer. Create them with `think`, `say`, `sayPartial`, `call`, `waitAt`, `finish` and `fail`. */
export type ScriptStep =
  | { readonly type: 'said'; readonly said: SaidPart }
  /** A fragment that is never completed, as after a cut or an abort. */
  | { readonly type: 'mumbled'; readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly type: 'gate'; readonly gate: Gate }
  | { readonly type: 'end'; readonly end: ModelEnd }

/** The answer to one request. Without an `end` step it finishes with `calls` if there was a call, else `stop`. */
export type ScriptedAnswer = readonly ScriptStep[]

/** The answers in order, or a function that creates them. */
export type Script = readonly ScriptedAnswer[] | ((request: ModelRequest, index: number) => ScriptedAnswer)

/** A provider that plays a script and keeps its requests. */
export type ScriptedModel = Provider & {
  /** The requests it received, in order. */
  readonly requests: readonly ModelRequest[]
}

/** The usage of every scripted answer that names no other. */
export const scriptedUsage: Usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }

/** Thinks a text. */
export const think = (text: string, meta?: PartMeta): ScriptStep => ({
  type: 'said',
  said: { type: 'thinking', text, ...(meta && { meta }) },
})
/** Says a text, word by word. */
export const say = (text: string): ScriptStep => ({ type: 'said', said: { type: 'text', text } })
/** Says a text that is never completed, as when a connection breaks. */
export const sayPartial = (text: string, kind: 'text' | 'thinking' = 'text'): ScriptStep => ({
  type: 'mumbled',
  kind,
  text,
})
/** Calls a tool. */
export const call = (tool: string, args: { readonly [key: string]: unknown }): ScriptStep => ({
  type: 'said',
  said: { type: 'call', tool, args },
})
/** Waits until a gate is open, or the call is aborted. */
export const waitAt = (gate: Gate): ScriptStep => ({ type: 'gate', gate })
/** Ends the answer. */
export const finish = (finish: 'stop' | 'calls' | 'length' | 'refused', usage: Usage = scriptedUsage): ScriptStep => ({
  type: 'end',
  end: { type: 'complete', finish, usage },
})
/** Ends an answer for which the service reports no usage; `estimate` is used instead. */
export const finishUncounted = (finish: 'stop' | 'calls', estimate: Usage): ScriptStep => ({
  type: 'end',
  end: { type: 'complete', finish, usage: null, estimate },
})
/** Ends the answer with a failure that is not retried, unless told otherwise. */
export const fail = (failed: Partial<Extract<ModelEnd, { readonly type: 'failed' }>> = {}): ScriptStep => ({
  type: 'end',
  end: {
    type: 'failed',
    fault: { kind: 'passthrough', message: 'The script makes this call fail.' },
    retryable: false,
    retryAfterMs: null,
    usage: null,
    ...failed,
  },
})

/** Fails as an overloaded service does, with an optional retry time. */
export const overload = (retryAfterMs: number | null = null): ScriptStep =>
  fail({ fault: { kind: 'rate_limited', message: 'The service is overloaded.' }, retryable: true, retryAfterMs })

/** Creates a provider that plays a script. It obeys the provider contract, so failures are in the code under test. */
export function createScriptedModel(script: Script): ScriptedModel {
  const requests: ModelRequest[] = []

  return {
    requests,
    async *stream(request, { signal }) {
      const index = requests.push(request) - 1
      const answer = typeof script === 'function' ? script(request, index) : (script[index] ?? [offScript(index)])
      yield* perform(answer, signal)
    },
  }
}

/** Creates a catalogue in which every name is this model. */
export const modelsOf = (provider: Provider, takes?: readonly string[]): Models =>
  modelsWith(() => ({ type: 'ready', provider, takes }))

/** Creates a catalogue with this `find`, and no rotation or fallbacks unless given. */
export function modelsWith(find: Models['find'], { refresh, ...rest }: Partial<Models> = {}): Models {
  const listeners: (() => void)[] = []
  return {
    find,
    defaultModel: () => 'sim/model',
    rotation: () => [],
    fallback: async () => null,
    list: async () => ({ models: [], providers: [] }),
    onChanged: (listener) => void listeners.push(listener),
    async refresh() {
      const refreshed = (await refresh?.()) ?? done
      for (const notify of listeners) notify()
      return refreshed
    },
    ...rest,
  }
}

const offScript = (index: number): ScriptStep =>
  fail({ fault: { kind: 'passthrough', message: `The script has no answer for request ${index + 1}.` } })

async function* perform(answer: ScriptedAnswer, signal: AbortSignal): AsyncGenerator<ModelPart> {
  let part = 0
  for (const step of answer) {
    if (step.type === 'gate') await passOrAbort(step.gate, signal)
    if (signal.aborted) return yield { type: 'end', end: { type: 'aborted' } }
    if (step.type === 'end') return yield step
    for (const shown of partsOf(step, part)) {
      yield shown
      // The test may abort after this part; then nothing may follow.
      if (signal.aborted) return yield { type: 'end', end: { type: 'aborted' } }
    }
    if (step.type !== 'gate') part++
  }
  yield { type: 'end', end: impliedEnd(answer) }
}

function* partsOf(step: Exclude<ScriptStep, { readonly type: 'end' }>, part: number): Generator<ModelPart> {
  if (step.type === 'gate') return
  if (step.type === 'mumbled') return yield { type: 'delta', part, kind: step.kind, text: step.text }
  const { said } = step
  if (said.type === 'call') {
    yield { type: 'delta', part, kind: 'input', text: JSON.stringify(said.args), tool: said.tool }
  } else {
    for (const word of said.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [])
      yield { type: 'delta', part, kind: said.type, text: word }
  }
  yield { type: 'said', part, said }
}

function impliedEnd(answer: ScriptedAnswer): ModelEnd {
  const hasCalls = answer.some((step) => step.type === 'said' && step.said.type === 'call')
  return { type: 'complete', finish: hasCalls ? 'calls' : 'stop', usage: scriptedUsage }
}

async function passOrAbort(gate: Gate, signal: AbortSignal): Promise<void> {
  const aborted = createGate()
  signal.addEventListener('abort', aborted.open)
  if (signal.aborted) aborted.open()
  await Promise.race([gate.pass(), aborted.pass()])
  signal.removeEventListener('abort', aborted.open)
}
