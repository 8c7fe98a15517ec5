import { invariant, type SessionId, type Usage } from '@holdfast/protocol'
import type { ModelEnd, ModelRequest, Provider } from '../../ports/provider.ts'
import type { RuntimeDeps } from '../dependencies.ts'
import { type RetryOptions, type Tried, withRetries } from './with-retries.ts'

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

type Written = Tried & { readonly said: readonly string[] }

async function write(provider: Provider, request: ModelRequest, signal: AbortSignal): Promise<Written> {
  const said: string[] = []
  let isSilent = true
  let end: ModelEnd | null = null
  for await (const part of provider.stream(request, { signal })) {
    if (part.type === 'said' && part.said.type === 'text') said.push(part.said.text)
    if (part.type === 'end') end = part.end
    else isSilent = false
  }
  invariant(end, `the provider of ${request.model} ended without an end`)
  return { end, isSilent, said }
}

function readText({ end, isSilent, said }: Written): WrittenText {
  if (end.type === 'aborted') return aborted
  if (end.type === 'failed') return { failed: end.fault.message, isRetryable: end.retryable && isSilent }
  if (end.finish === 'refused') return { failed: 'The model refused.' }
  if (end.finish === 'length') return { failed: 'The model was cut short.' } // half a summary would look complete
  const text = said.join('').trim()
  return text === '' ? { failed: 'The model said nothing.' } : { text, usage: end.usage }
}

type Asked = Parameters<typeof completeText>

/** Asks a model for a text, and lets the observer see it. */
export function completeObserved(
  { observer }: Pick<RuntimeDeps, 'observer'>,
  session: SessionId,
  ...[provider, request, options]: Asked
): Promise<WrittenText> {
  const ask = () => completeText(provider, request, options)
  return observer?.asking?.(session, request.model, ask) ?? ask()
}
