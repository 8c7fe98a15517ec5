import { limits, type ModelName, textTokens, type Usage } from '@holdfast/protocol'
import type { ModelReadiness, ModelRequest, Provider } from '../../ports/provider.ts'
import { modelNow } from '../../session/state.ts'
import type { EffectDeps } from '../dependencies.ts'
import { completeObserved } from './one-off-completion.ts'

type Unready = Exclude<ModelReadiness, { readonly type: 'ready' }>
type Asked = { readonly model: ModelName; readonly provider: Provider; readonly request: ModelRequest }
type RequestFor = (model: ModelName) => ModelRequest

type Summary = { readonly text: string; readonly usage: Usage | null; readonly model: ModelName }

/**
 * Lets a model write a summary: the configured one if it is ready and has room, otherwise the session's. The session's
 * model is also asked when the configured one cannot accept the call.
 */
export async function writeSummary(
  deps: EffectDeps,
  requestFor: RequestFor,
  signal: AbortSignal,
): Promise<Summary | { readonly failed: string } | Unready> {
  const named = namedFor(deps, requestFor)
  const model = modelNow(deps.state())
  if (named) {
    const written = await ask(deps, named, signal)
    const isAnother = 'failed' in written && written.isRetryable && named.model !== model && !signal.aborted
    if (!isAnother) return written
  }
  const own = deps.models.find(model)
  return own.type === 'ready' ? ask(deps, { model, provider: own.provider, request: requestFor(model) }, signal) : own
}

function namedFor({ models, compactionModel: model }: EffectDeps, requestFor: RequestFor): Asked | null {
  if (model === undefined) return null
  const found = models.find(model)
  const request = requestFor(model)
  return found.type === 'ready' && fits(request, found.contextTokens)
    ? { model, provider: found.provider, request }
    : null
}

async function ask(deps: EffectDeps, { model, provider, request }: Asked, signal: AbortSignal) {
  const { session, clock, state } = deps
  const seed = `${session}:${state().seq}`
  const written = await completeObserved(deps, session, provider, request, { clock, signal, seed })
  return 'failed' in written ? written : { ...written, model }
}

/** Whether a request fits a model and leaves room for the answer. */
function fits({ system, messages }: ModelRequest, contextTokens: number = limits.contextTokens): boolean {
  let tokens = textTokens(system)
  for (const { content } of messages) for (const part of content) if ('text' in part) tokens += textTokens(part.text)
  return tokens <= contextTokens * limits.compactAt
}
