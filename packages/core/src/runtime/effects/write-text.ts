import { invariant, limits, type ModelName, type SessionId, textTokens, type Usage } from '@holdfast/protocol'
import type { ModelEnd, ModelReadiness, ModelRequest, Provider } from '../../ports/provider.ts'
import { modelNow } from '../../session/state.ts'
import type { EffectDeps, RuntimeDeps } from '../dependencies.ts'
import { type ModelCallEnd, type RetryOptions, withRetries } from './with-retries.ts'

type WrittenText =
  | { readonly text: string; readonly usage: Usage | null }
  /** `isRetryable` when the model could not accept the call up to the last retry: another model may. */
  | { readonly failed: string; readonly isRetryable?: boolean | undefined }

const aborted: WrittenText = { failed: 'It was aborted.' }

/**
 * Asks a model for a text outside any turn, with retries. A failure is returned as a sentence. An abort ends it at
 * once, even if the provider does not answer.
 */
export async function completeText(
  provider: Provider,
  request: ModelRequest,
  options: Omit<RetryOptions, 'announce'>,
): Promise<WrittenText> {
  const { signal } = options
  if (signal.aborted) return aborted
  const stopped = Promise.withResolvers<WrittenText>()
  const stop = () => stopped.resolve(aborted)
  signal.addEventListener('abort', stop)
  try {
    const written = withRetries(options, () => write(provider, request, signal)).then(readText)
    return await Promise.race([stopped.promise, written])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

type Written = ModelCallEnd & { readonly texts: readonly string[] }

async function write(provider: Provider, request: ModelRequest, signal: AbortSignal): Promise<Written> {
  const texts: string[] = []
  let isSilent = true
  let end: ModelEnd | null = null
  for await (const part of provider.stream(request, { signal })) {
    if (part.type === 'said' && part.said.type === 'text') texts.push(part.said.text)
    if (part.type === 'end') end = part.end
    else isSilent = false
  }
  invariant(end, `the provider of ${request.model} ended without an end`)
  return { end, isSilent, texts: texts }
}

function readText({ end, isSilent, texts }: Written): WrittenText {
  if (end.type === 'aborted') return aborted
  if (end.type === 'failed') return { failed: end.fault.message, isRetryable: end.retryable && isSilent }
  if (end.finish === 'refused') return { failed: 'The model refused.' }
  if (end.finish === 'length') return { failed: 'The answer was cut at the length limit.' } // half a summary would look complete
  const text = texts.join('').trim()
  return text === '' ? { failed: 'The model wrote no text.' } : { text, usage: end.usage }
}

/** Asks a model for a text, and lets the observer see it. */
export function completeObserved(
  { observer }: Pick<RuntimeDeps, 'observer'>,
  session: SessionId,
  ...args: Parameters<typeof completeText>
): Promise<WrittenText> {
  const ask = () => completeText(...args)
  return observer?.asking?.(session, args[1].model, ask) ?? ask()
}

type Unready = Exclude<ModelReadiness, { readonly type: 'ready' }>
type RequestFor = (model: ModelName) => ModelRequest
type Summary = Readonly<{ text: string; usage: Usage | null; model: ModelName }>

/**
 * Lets a model write a summary: the configured one if it is ready and has room, otherwise the session's. The session's
 * model is also asked when the configured one cannot accept the call.
 */
export async function writeSummary(
  deps: EffectDeps,
  requestFor: RequestFor,
  signal: AbortSignal,
): Promise<Summary | { readonly failed: string } | Unready> {
  const { models, compactionModel } = deps
  const model = modelNow(deps.state())
  if (compactionModel !== undefined) {
    const found = models.find(compactionModel)
    const request = requestFor(compactionModel)
    if (found.type === 'ready' && fits(request, found.contextTokens)) {
      const written = await ask(deps, found.provider, request, signal)
      const isRetried = 'failed' in written && written.isRetryable && compactionModel !== model && !signal.aborted
      if (!isRetried) return written
    }
  }
  const own = models.find(model)
  return own.type === 'ready' ? ask(deps, own.provider, requestFor(model), signal) : own
}

async function ask(deps: EffectDeps, provider: Provider, request: ModelRequest, signal: AbortSignal) {
  const { session, clock, state } = deps
  const seed = `${session}:${state().seq}`
  const written = await completeObserved(deps, session, provider, request, { clock, signal, seed })
  return 'failed' in written ? written : { ...written, model: request.model }
}

/** Whether a request fits a model and leaves room for the answer. */
function fits({ system, messages }: ModelRequest, contextTokens: number = limits.contextTokens): boolean {
  let tokens = textTokens(system)
  for (const { content } of messages) for (const part of content) if ('text' in part) tokens += textTokens(part.text)
  return tokens <= contextTokens * limits.compactAt
}
