import type { Clock, ModelEnd, ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { wallClock } from '../../platform/wall-clock.ts'
import { createAnswer } from './answer.ts'
import { cutShort, failureOf, type Service, wentSilent } from './failure.ts'
import { type AiSdkModel, openStream, type StreamPart } from './open-stream.ts'
import { createPatience, type Waited } from './patience.ts'
import { type Price, usageOf } from './usage.ts'

export type AiSdkProviderOptions = {
  readonly providerName: string
  /** Without a price, cost is unknown. */
  readonly price?: Price | undefined
  /** Where a person put the key, for the sentence that asks them to look at it. */
  readonly keyName?: string | undefined
  /** Masked in everything we report. */
  readonly keys?: readonly string[] | undefined
  readonly silenceMs?: number | undefined
  readonly clock?: Clock | undefined
}

type Finish = Extract<StreamPart, { type: 'finish' }>
type Call = {
  readonly model: AiSdkModel
  readonly service: Service
  readonly price: Price | null
  readonly silenceMs: number
  readonly clock: Clock
}

/** Any model of an `@ai-sdk/*` package as a provider, at the model interface: the loop, the retries and the log are ours. */
export function createAiSdkProvider(model: AiSdkModel, options: AiSdkProviderOptions): Provider {
  const { providerName, price, keyName = `the key of ${providerName}`, keys = [] } = options
  const { silenceMs = limits.providerSilenceMs, clock = wallClock } = options
  const call: Call = { model, service: { providerName, keyName, keys }, price: price ?? null, silenceMs, clock }
  return { stream: (request, { signal }) => streamToEnd(call, request, signal) }
}

/** Whatever happens inside, the last part is the end, and it is the only one. */
async function* streamToEnd(call: Call, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const hangUp = new AbortController()
  let end: ModelEnd
  try {
    end = yield* streamParts(call, request, { signal, line: AbortSignal.any([signal, hangUp.signal]) })
  } catch (error) {
    // A stream that breaks the SDK's own rules must not break the session.
    end = failureOf(error, call.service, call.clock.now())
  } finally {
    hangUp.abort()
  }
  yield { type: 'end', end }
}

/** `line` tells the network to let go: at an abort, and when we stop listening for a reason of our own. */
type Signals = { readonly signal: AbortSignal; readonly line: AbortSignal }

async function* streamParts(call: Call, request: ModelRequest, { signal, line }: Signals) {
  const { model, service, silenceMs, clock } = call
  const wait = createPatience({ signal, silenceMs, clock })
  const endOf = (waited: Exclude<Waited<unknown>, { type: 'got' }>): ModelEnd => {
    if (waited.type === 'aborted') return waited
    return waited.type === 'silent' ? wentSilent(service, silenceMs) : failureOf(waited.error, service, clock.now())
  }
  if (signal.aborted) return endOf({ type: 'aborted' })

  const opening = openStream(model, request, { signal: line })
  const opened = await wait(() => opening)
  if (opened.type !== 'got') {
    void opening.then((stream) => stream.cancel()).catch(ignore) // it may still open, after we stopped waiting
    return endOf(opened)
  }

  const answer = createAnswer()
  const reader = opened.value.getReader()
  try {
    for (;;) {
      const read = await wait(() => reader.read())
      if (read.type !== 'got') return endOf(read)
      if (read.value.done) return cutShort(service)
      const fragment = read.value.value
      if (fragment.type === 'error') return failureOf(fragment.error, service, clock.now())
      if (fragment.type === 'finish') {
        if (isWhole(fragment)) yield* answer.takeRest()
        return finishOf(fragment, answer.hasCalls(), call)
      }
      yield* answer.take(fragment)
    }
  } finally {
    void reader.cancel().catch(ignore)
  }
}

const ignore = () => undefined

const isWhole = ({ finishReason }: Finish): boolean =>
  finishReason.unified !== 'interrupted' && finishReason.unified !== 'error'

/** What a service calls its end differs; whether there are calls to run does not. */
function finishOf({ finishReason, usage }: Finish, hasCalls: boolean, { service, price, clock }: Call): ModelEnd {
  const used = usageOf(usage, price)
  const known = used.input + used.output + used.cacheRead + used.cacheWrite > 0 ? used : null
  switch (finishReason.unified) {
    case 'interrupted':
      return { ...cutShort(service), usage: known }
    case 'error':
      return { ...failureOf(null, service, clock.now()), usage: known }
    case 'length':
      return { type: 'complete', finish: 'length', usage: used }
    case 'content-filter':
      return { type: 'complete', finish: 'refused', usage: used }
    default:
      return { type: 'complete', finish: hasCalls ? 'calls' : 'stop', usage: used }
  }
}
