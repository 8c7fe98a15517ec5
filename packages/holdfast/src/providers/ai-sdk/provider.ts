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
  return {
    stream: (request, { signal }) => ({ [Symbol.asyncIterator]: () => streamToEnd(deps, request, signal) }),
  }
}

/** Created once: an error records its stack at creation, and every call ends with this one. */
const callIsOver = new DOMException('The call is over.', 'AbortError')

type Reader = ReadableStreamDefaultReader<StreamPart>

type ReadResult = Awaited<ReturnType<Reader['read']>>

/** Opens the stream of one call at the first read, and closes its connection. */
function createConnection({ model, dialect, known }: ProviderDeps, request: ModelRequest, signal: AbortSignal) {
  const offered = request.tools.map(({ name }) => name)
  const names = createToolNames(offered, dialect.names.tools)
  const hangUp = new AbortController()
  // Closes the connection: at an abort, and when we stop reading for our own reasons.
  const connection = AbortSignal.any([signal, hangUp.signal])
  let reader: Reader | null = null
  let headers: Headers | undefined
  let isClosed = false
  const open = async (): Promise<null> => {
    const opened = await openStream(model, request, { signal: connection, dialect, names, known })
    headers = opened.headers
    if (isClosed)
      void opened.stream.cancel().catch(ignore) // it opened after we stopped waiting
    else reader = opened.stream.getReader()
    return null
  }
  return {
    names,
    headers: () => headers,
    /** Reads a fragment; null when the stream was only opened. */
    read: (): Promise<ReadResult | null> => reader?.read() ?? open(),
    close() {
      isClosed = true
      void reader?.cancel().catch(ignore)
      hangUp.abort(callIsOver)
    },
  }
}

/** How much may be read before it is taken. */
const readyPartsMax = 64
const readyCharsMax = 64 * 1024
/** After so many fragments that were there at once, other work comes first. */
const readsPerSlice = 500

/**
 * Streams one call. The last part is always the only `end`. The first part of a slice is given out at once.
 * Text that follows in the same slice is joined, because to give out each fragment costs as much as to read it.
 */
function streamToEnd(deps: ProviderDeps, request: ModelRequest, signal: AbortSignal): AsyncIterator<ModelPart> {
  const { model, dialect, service, silenceMs, clock } = deps
  const timeout = createSilenceTimeout({ signal, silenceMs, clock })
  const connection = createConnection(deps, request, signal)
  const modelId = dialect.answers.isPerModel ? model.modelId : null
  const answer = createAnswer({ toolName: connection.names.fromWire, modelId })
  const context = () => ({ service, now: clock.now(), headers: connection.headers() })
  const ready = createReadyParts()
  let isOver = false
  let isReading = false
  let reads = 0
  /** Whether a part was given out in this slice. */
  let isGiven = false
  let give: ((next: IteratorResult<ModelPart>) => void) | null = null

  const stop = () => {
    isOver = true
    timeout.stop()
  }
  const close = () => {
    stop()
    connection.close()
  }
  const endOf = (result: WaitResult<ReadResult | null>): ModelEnd | null => {
    if (result.type === 'aborted') return result
    if (result.type === 'silent') return endSilent(service, silenceMs)
    if (result.type === 'failed') return endFailed(result.error, context())
    if (result.value === null) return null
    if (result.value.done) return endCutShort(context())
    const fragment = result.value.value
    for (const part of readParts(fragment, answer)) ready.add(part)
    // The library continues after an unknown part, and reports at the end whether it lost anything.
    if (fragment.type === 'error' && findUnknownPart(fragment.error) === null)
      return endFailed(fragment.error, context())
    return fragment.type === 'finish' ? readFinish(fragment, answer, deps, { ...context(), request }) : null
  }
  const take = (result: WaitResult<ReadResult | null>) => {
    let end: ModelEnd | null
    try {
      end = endOf(result)
    } catch (error) {
      end = endFailed(error, context()) // a stream that breaks the SDK's rules must not break the session
    }
    if (end === null) return
    stop()
    ready.add({ type: 'end', end })
    // The answer is recorded first: to close a connection takes longer than to give out the end.
    if (end.type === 'complete') setImmediate(connection.close)
    else connection.close()
  }

  const endSlice = () => {
    isGiven = false
    reads = 0
    giveOut()
    read()
  }
  const giveOut = () => {
    if (give === null || ready.isEmpty() || (isGiven && !ready.isUrgent())) return
    const given = give
    give = null
    given({ value: ready.take(), done: false })
    if (!isGiven) setImmediate(endSlice)
    isGiven = true
  }
  const onRead = (result: WaitResult<ReadResult | null>) => {
    isReading = false
    take(result)
    giveOut()
    read()
  }
  /** Reads on, also while nobody waits for a part: what comes meanwhile is joined. */
  const read = () => {
    if (isOver || isReading || ready.isFull() || (isGiven && ++reads > readsPerSlice)) return
    isReading = true
    timeout.wait(connection.read, onRead)
  }

  return {
    next() {
      if (isOver && ready.isEmpty()) return Promise.resolve({ value: undefined, done: true })
      return new Promise((resolve) => {
        give = resolve
        giveOut()
        read()
      })
    },
    async return() {
      if (!isOver) close()
      ready.clear()
      return { value: undefined, done: true }
    },
  }
}

/** Parts that were read and not given out. Text of the same part is joined. */
function createReadyParts() {
  const parts: { readonly part: ModelPart; readonly texts: string[] }[] = []
  let [chars, urgent] = [0, 0]
  return {
    isEmpty: () => parts.length === 0,
    isFull: () => parts.length >= readyPartsMax || chars >= readyCharsMax,
    /** Whether something waits that is no text, or too much text. */
    isUrgent: () => urgent > 0 || chars >= readyCharsMax,
    add(part: ModelPart): void {
      const isText = part.type === 'delta'
      if (isText) chars += part.text.length
      else urgent++
      const last = parts.at(-1)
      if (isText && last?.part.type === 'delta' && isSamePart(last.part, part)) last.texts.push(part.text)
      else parts.push({ part, texts: isText ? [part.text] : [] })
    },
    take(): ModelPart {
      const first = parts.shift()
      if (first === undefined) throw new Error('no part is ready')
      const { part, texts } = first
      if (part.type !== 'delta') {
        urgent--
        return part
      }
      const text = texts.length === 1 ? part.text : texts.join('')
      chars -= text.length
      return texts.length === 1 ? part : { ...part, text }
    },
    clear(): void {
      parts.length = 0
      chars = 0
      urgent = 0
    },
  }
}

type Delta = Extract<ModelPart, { readonly type: 'delta' }>

const isSamePart = (one: Delta, other: Delta): boolean =>
  one.part === other.part && one.kind === other.kind && one.tool === other.tool

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
  { request, ...context }: Parameters<typeof endCutShort>[0] & { readonly request: ModelRequest },
): ModelEnd {
  const usage = readUsage(counts, price)
  const complete = (finish: 'length' | 'refused' | 'calls' | 'stop'): ModelEnd => ({
    type: 'complete',
    finish,
    usage,
    ...(usage === null && { estimate: estimateUsage(request, answer.saidChars(), price) }),
  })
  switch (finishReason.unified) {
    case 'interrupted':
      return { ...endCutShort(context), usage }
    case 'error':
      return { ...endStopped(service, finishReason.raw), usage }
    case 'length':
      return complete('length')
    case 'content-filter':
      return complete('refused')
    default:
      return complete(answer.hasCalls() ? 'calls' : 'stop')
  }
}
