import type { Clock, ModelEnd, ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { wallClock } from '../../platform/wall-clock.ts'
import { createAnswer } from './answer.ts'
import { dialectOf } from './dialect.ts'
import { cutShort, failureOf, type Service, wentSilent } from './failure.ts'
import { type AiSdkModel, openStream, type StreamPart } from './open-stream.ts'
import { createPatience, type Patience, type Waited } from './patience.ts'
import { createToolNames } from './tool-names.ts'
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

/**
 * Whatever happens inside, the last part is the end, and it is the only one. One generator from the network to the
 * session: each more on the way would cost every fragment again.
 */
async function* streamToEnd(call: Call, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { model, service, silenceMs, clock } = call
  const hangUp = new AbortController()
  // Tells the network to let go: at an abort, and when we stop listening for a reason of our own.
  const line = AbortSignal.any([signal, hangUp.signal])
  const patience = createPatience({ signal, silenceMs, clock })
  const { toolNames, isPerModel } = dialectOf(model)
  const offered = request.tools.map(({ name }) => name)
  const names = createToolNames(offered, toolNames)
  const answer = createAnswer({ toolName: names.fromWire, modelId: isPerModel ? model.modelId : null })
  let reader: Reader | null = null
  let end: ModelEnd | null = null
  try {
    const opened = await openReader(patience, () => openStream(model, request, { signal: line, names }))
    if (opened.type === 'got') reader = opened.value
    else end = unheard(opened, call)
    const read = () => (reader as Reader).read() // asked only while there is one: without it there is an end
    while (end === null) {
      const heard = await patience.wait(read)
      if (heard.type !== 'got') end = unheard(heard, call)
      else if (heard.value.done) end = cutShort(service)
      else {
        const fragment = heard.value.value
        for (const part of partsOf(fragment, answer)) yield part
        end = endIn(fragment, answer, call)
      }
    }
  } catch (error) {
    // A stream that breaks the SDK's own rules must not break the session.
    end = failureOf(error, service, clock.now())
  } finally {
    patience.stop()
    void reader?.cancel().catch(ignore)
    hangUp.abort()
  }
  yield { type: 'end', end }
}

type Reader = ReadableStreamDefaultReader<StreamPart>
type Answer = ReturnType<typeof createAnswer>

async function openReader(
  { wait }: Patience,
  open: () => Promise<ReadableStream<StreamPart>>,
): Promise<Waited<Reader>> {
  let isLeft = false
  const opened = await wait(async () => {
    const stream = await open()
    if (isLeft) void stream.cancel().catch(ignore) // it opened after all, but we had stopped waiting
    return stream.getReader()
  })
  isLeft = opened.type !== 'got'
  return opened
}

/** The end of a stream from which nothing more came. */
function unheard(
  waited: Exclude<Waited<unknown>, { readonly type: 'got' }>,
  { service, silenceMs, clock }: Call,
): ModelEnd {
  if (waited.type === 'aborted') return waited
  return waited.type === 'silent' ? wentSilent(service, silenceMs) : failureOf(waited.error, service, clock.now())
}

const partsOf = (fragment: StreamPart, answer: Answer): readonly ModelPart[] =>
  fragment.type === 'finish' && isWhole(fragment) ? answer.takeRest() : answer.take(fragment)

/** The end, if the fragment is one. */
function endIn(fragment: StreamPart, answer: Answer, call: Call): ModelEnd | null {
  if (fragment.type === 'error') return failureOf(fragment.error, call.service, call.clock.now())
  return fragment.type === 'finish' ? finishOf(fragment, answer.hasCalls(), call) : null
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
