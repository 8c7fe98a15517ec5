import type { Clock, ModelEnd, ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { limits, type Price } from '@holdfast/protocol'
import { wallClock } from '../../system/wall-clock.ts'
import type { Headers } from '../failure/details.ts'
import { endCutShort, endFailed, endSilent, endStopped } from '../failure/failure.ts'
import type { FailedService } from '../failure/message.ts'
import type { Api } from '../services/presets.ts'
import { type AnswerReader, createAnswer } from './answer.ts'
import { chooseDialect, guessDialect } from './dialect/choose-dialect.ts'
import type { Dialect } from './dialect/dialect.ts'
import { type AiSdkModel, type KnownModelFacts, openStream, type StreamPart } from './open-stream.ts'
import { createSilenceTimeout, type WaitResult } from './silence-timeout.ts'
import { createToolNames } from './tool-names.ts'
import { findUnknownPart } from './unknown-part.ts'
import { estimateUsage, readUsage } from './usage.ts'

export type AiSdkProviderOptions = KnownModelFacts & {
  readonly title: string
  /** The API of the service; without it, the dialect is guessed. */
  readonly api?: Api | undefined
  /** The preset that the service is, if it is one. */
  readonly preset?: string | null | undefined
  /** The address for messages, without secrets. */
  readonly endpoint?: string | undefined
  /** Without a price, the cost is unknown. */
  readonly price?: Price | null | undefined
  /** Where a person put the key, for messages. */
  readonly keyName?: string | undefined
  readonly silenceMs?: number | undefined
  readonly clock?: Clock | undefined
}

type Finish = Extract<StreamPart, { type: 'finish' }>
type ProviderDeps = {
  readonly model: AiSdkModel
  readonly dialect: Dialect
  readonly service: FailedService
  readonly known: KnownModelFacts
  readonly price: Price | null
  readonly silenceMs: number
  readonly clock: Clock
}

/** Turns any model of an `@ai-sdk/*` package into a provider. The loop, retries and log are ours. */
export function createAiSdkProvider(model: AiSdkModel, options: AiSdkProviderOptions): Provider {
  const { title, api, preset = null, price, keyName = `the key of ${title}`, endpoint } = options
  const { silenceMs = limits.providerSilenceMs, clock = wallClock } = options
  const shownTitle = title.charAt(0).toUpperCase() + title.slice(1)
  const service = { title: shownTitle, modelId: model.modelId, endpoint, keyName }
  const dialect = api === undefined ? guessDialect(model) : chooseDialect(model, api, preset)
  const deps: ProviderDeps = { model, dialect, service, known: options, price: price ?? null, silenceMs, clock }
  return { stream: (request, { signal }) => streamToEnd(deps, request, signal) }
}

/** Created once: an error records its stack at creation, and every call ends with this one. */
const callIsOver = new DOMException('The call is over.', 'AbortError')

type Reader = ReadableStreamDefaultReader<StreamPart>

/** Streams one call. The last part is always the only `end`. One generator, as each further one costs every fragment. */
async function* streamToEnd(deps: ProviderDeps, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { model, dialect, service, known, silenceMs, clock } = deps
  const hangUp = new AbortController()
  // Closes the connection: at an abort, and when we stop reading for our own reasons.
  const connection = AbortSignal.any([signal, hangUp.signal])
  const timeout = createSilenceTimeout({ signal, silenceMs, clock })
  const offered = request.tools.map(({ name }) => name)
  const names = createToolNames(offered, dialect.names.tools)
  const answer = createAnswer({ toolName: names.fromWire, modelId: dialect.answers.isPerModel ? model.modelId : null })
  let reader: Reader | null = null
  let end: ModelEnd | null = null
  let headers: Headers | undefined
  let isAbandoned = false
  const context = () => ({ service, now: clock.now(), headers })
  const endWait = (result: Exclude<WaitResult<unknown>, { readonly type: 'done' }>): ModelEnd => {
    if (result.type === 'aborted') return result
    return result.type === 'silent' ? endSilent(service, silenceMs) : endFailed(result.error, context())
  }
  try {
    const opened = await timeout.wait(async () => {
      const found = await openStream(model, request, { signal: connection, dialect, names, known })
      if (isAbandoned) void found.stream.cancel().catch(ignore) // it opened after we stopped waiting
      return { reader: found.stream.getReader(), headers: found.headers }
    })
    isAbandoned = opened.type !== 'done'
    if (opened.type === 'done') ({ reader, headers } = opened.value)
    else end = endWait(opened)
    const read = () => (reader as Reader).read() // without a reader there is an end
    while (end === null) {
      const result = await timeout.wait(read)
      if (result.type !== 'done') end = endWait(result)
      else if (result.value.done) end = endCutShort(context())
      else {
        const fragment = result.value.value
        for (const part of readParts(fragment, answer)) yield part
        // The library continues after an unknown part, and reports at the end whether it lost anything.
        if (fragment.type === 'error' && findUnknownPart(fragment.error) === null)
          end = endFailed(fragment.error, context())
        if (fragment.type === 'finish') end = readFinish(fragment, answer, deps, context())
        if (end?.type === 'complete' && end.usage === null)
          end = { ...end, estimate: estimateUsage(request, answer.saidChars(), deps.price) }
      }
    }
  } catch (error) {
    // A stream that breaks the SDK's rules must not break the session.
    end = endFailed(error, context())
  } finally {
    timeout.stop()
    void reader?.cancel().catch(ignore)
    hangUp.abort(callIsOver)
  }
  yield { type: 'end', end }
}

const ignore = () => undefined

const readParts = (fragment: StreamPart, answer: AnswerReader): readonly ModelPart[] =>
  fragment.type === 'finish' && isComplete(fragment) ? answer.takeRest() : answer.take(fragment)

const isComplete = ({ finishReason }: Finish): boolean =>
  finishReason.unified !== 'interrupted' && finishReason.unified !== 'error'

/** Services name their ends differently, so whether there are calls decides between `calls` and `stop`. */
function readFinish(
  { finishReason, usage: counts }: Finish,
  answer: AnswerReader,
  { service, price }: ProviderDeps,
  context: Parameters<typeof endCutShort>[0],
): ModelEnd {
  const usage = readUsage(counts, price)
  switch (finishReason.unified) {
    case 'interrupted':
      return { ...endCutShort(context), usage }
    case 'error':
      return { ...endStopped(service, finishReason.raw), usage }
    case 'length':
      return { type: 'complete', finish: 'length', usage }
    case 'content-filter':
      return { type: 'complete', finish: 'refused', usage }
    default:
      return { type: 'complete', finish: answer.hasCalls() ? 'calls' : 'stop', usage }
  }
}
