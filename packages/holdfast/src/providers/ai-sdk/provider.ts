import type { Clock, ModelEnd, ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { limits, type Price } from '@holdfast/protocol'
import { wallClock } from '../../system/wall-clock.ts'
import type { Headers } from '../failure/details.ts'
import { cutShort, failureOf, stopped, wentSilent } from '../failure/failure.ts'
import type { Service } from '../failure/who-failed.ts'
import type { Api } from '../services/api.ts'
import { type AnswerReader, createAnswer } from './answer.ts'
import type { Dialect } from './dialect/dialect.ts'
import { dialectOf, guessDialect } from './dialect/dialect-of.ts'
import { estimateOf } from './estimate.ts'
import { type AiSdkModel, type KnownOfModel, type OpenedStream, openStream, type StreamPart } from './open-stream.ts'
import { createPatience, type Patience, type Waited } from './patience.ts'
import { createToolNames } from './tool-names.ts'
import { unknownPartOf } from './unknown-part.ts'
import { usageOf } from './usage.ts'

export type AiSdkProviderOptions = KnownOfModel & {
  /** The service as people call it, or its name. */
  readonly title: string
  /** The API of its service; of a model that a program brought, the dialect is guessed. */
  readonly api?: Api | undefined
  /** The preset that the service is, if it is one. */
  readonly preset?: string | null | undefined
  /** Where it is called, without anything secret of the address. */
  readonly endpoint?: string | undefined
  /** Without a price, cost is unknown. */
  readonly price?: Price | null | undefined
  /** Where a person put the key, for the sentence that asks them to look at it. */
  readonly keyName?: string | undefined
  readonly silenceMs?: number | undefined
  readonly clock?: Clock | undefined
}

type Finish = Extract<StreamPart, { type: 'finish' }>
type Call = {
  readonly model: AiSdkModel
  readonly dialect: Dialect
  readonly service: Service
  readonly known: KnownOfModel
  readonly price: Price | null
  readonly silenceMs: number
  readonly clock: Clock
}

/** Any model of an `@ai-sdk/*` package as a provider, at the model interface: the loop, the retries and the log are ours. */
export function createAiSdkProvider(model: AiSdkModel, options: AiSdkProviderOptions): Provider {
  const { title, api, preset = null, price, keyName = `the key of ${title}`, endpoint } = options
  const { silenceMs = limits.providerSilenceMs, clock = wallClock } = options
  const service = { title: titleOf(title), modelId: model.modelId, endpoint, keyName }
  const dialect = api === undefined ? guessDialect(model) : dialectOf(model, api, preset)
  const call: Call = { model, dialect, service, known: options, price: price ?? null, silenceMs, clock }
  return { stream: (request, { signal }) => streamToEnd(call, request, signal) }
}

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Made once: an error takes its stack down wherever it is made, and every call ends by this one. */
const callIsOver = new DOMException('The call is over.', 'AbortError')

/**
 * Whatever happens inside, the last part is the end, and it is the only one. One generator from the network to the
 * session: each more on the way would cost every fragment again.
 */
async function* streamToEnd(call: Call, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { model, dialect, known, silenceMs, clock } = call
  const hangUp = new AbortController()
  // Tells the network to let go: at an abort, and when we stop listening for a reason of our own.
  const line = AbortSignal.any([signal, hangUp.signal])
  const patience = createPatience({ signal, silenceMs, clock })
  const offered = request.tools.map(({ name }) => name)
  const names = createToolNames(offered, dialect.names.tools)
  const answer = createAnswer({ toolName: names.fromWire, modelId: dialect.answers.isPerModel ? model.modelId : null })
  let reader: Reader | null = null
  let end: ModelEnd | null = null
  let headers: Headers | undefined
  try {
    const opened = await openReader(patience, () => openStream(model, request, { signal: line, dialect, names, known }))
    if (opened.type === 'got') ({ reader, headers } = opened.value)
    else end = unheard(opened, call)
    const read = () => (reader as Reader).read() // asked only while there is one: without it there is an end
    while (end === null) {
      const heard = await patience.wait(read)
      if (heard.type !== 'got') end = unheard(heard, call, headers)
      else if (heard.value.done) end = cutShort(partsOfFailure(call, headers))
      else {
        const fragment = heard.value.value
        for (const part of partsOf(fragment, answer)) yield part
        end = endIn(fragment, answer, call, headers)
        if (end?.type === 'complete' && end.usage === null) {
          end = { ...end, estimate: estimateOf(request, answer.saidChars(), call.price) }
        }
      }
    }
  } catch (error) {
    // A stream that breaks the SDK's own rules must not break the session.
    end = failureOf(error, partsOfFailure(call, headers))
  } finally {
    patience.stop()
    void reader?.cancel().catch(ignore)
    hangUp.abort(callIsOver)
  }
  yield { type: 'end', end }
}

type Reader = ReadableStreamDefaultReader<StreamPart>

async function openReader(
  { wait }: Patience,
  open: () => Promise<OpenedStream>,
): Promise<Waited<{ readonly reader: Reader; readonly headers: Headers | undefined }>> {
  let isLeft = false
  const opened = await wait(async () => {
    const { stream, headers } = await open()
    if (isLeft) void stream.cancel().catch(ignore) // it opened after all, but we had stopped waiting
    return { reader: stream.getReader(), headers }
  })
  isLeft = opened.type !== 'got'
  return opened
}

const partsOfFailure = ({ service, clock }: Call, headers: Headers | undefined) => ({
  service,
  now: clock.now(),
  headers,
})

/** The end of a stream from which nothing more came. */
function unheard(
  waited: Exclude<Waited<unknown>, { readonly type: 'got' }>,
  call: Call,
  headers?: Headers | undefined,
): ModelEnd {
  if (waited.type === 'aborted') return waited
  if (waited.type === 'silent') return wentSilent(call.service, call.silenceMs)
  return failureOf(waited.error, partsOfFailure(call, headers))
}

const partsOf = (fragment: StreamPart, answer: AnswerReader): readonly ModelPart[] =>
  fragment.type === 'finish' && isWhole(fragment) ? answer.takeRest() : answer.take(fragment)

/** The end, if the fragment is one. */
function endIn(fragment: StreamPart, answer: AnswerReader, call: Call, headers: Headers | undefined): ModelEnd | null {
  if (fragment.type === 'error') {
    // The library goes on after what it has no word for, and says at the end whether it lost anything by it.
    return unknownPartOf(fragment.error) === null ? failureOf(fragment.error, partsOfFailure(call, headers)) : null
  }
  return fragment.type === 'finish' ? finishOf(fragment, answer.hasCalls(), call, headers) : null
}

const ignore = () => undefined

const isWhole = ({ finishReason }: Finish): boolean =>
  finishReason.unified !== 'interrupted' && finishReason.unified !== 'error'

/** What a service calls its end differs; whether there are calls to run does not. */
function finishOf(
  { finishReason, usage }: Finish,
  hasCalls: boolean,
  call: Call,
  headers: Headers | undefined,
): ModelEnd {
  const used = usageOf(usage, call.price)
  switch (finishReason.unified) {
    case 'interrupted':
      return { ...cutShort(partsOfFailure(call, headers)), usage: used }
    case 'error':
      return { ...stopped(call.service, finishReason.raw), usage: used }
    case 'length':
      return { type: 'complete', finish: 'length', usage: used }
    case 'content-filter':
      return { type: 'complete', finish: 'refused', usage: used }
    default:
      return { type: 'complete', finish: hasCalls ? 'calls' : 'stop', usage: used }
  }
}
