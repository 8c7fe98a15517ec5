import type { ModelFault, ModelName } from '@holdfast/protocol'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectDeps } from '../dependencies.ts'
import type { EffectRun } from '../performer.ts'
import { requestForStep } from './build-request.ts'
import type { ContextBlobs } from './context-blobs.ts'
import { streamAnswer } from './stream-answer.ts'
import { modelUnavailable } from './unready-fault.ts'
import { type Retry, withRetries } from './with-retries.ts'

/** Sends the line to the model, again where it could not take it, shows the answer as it comes, and reports it whole. */
export async function callModel(
  parts: EffectDeps,
  effect: Extract<Effect, { type: 'call-model' }>,
  told: ContextBlobs,
  { signal, tell }: EffectRun,
): Promise<Report | null> {
  const { step, model } = effect
  const failed = (fault: ModelFault): Report => ({ type: 'model.failed', step, parts: [], fault, usage: null })
  const readiness = parts.models.find(model)
  if (readiness.type !== 'ready') return failed(modelUnavailable(readiness))
  const built = await requestForStep(parts, effect, told, readiness.takes)
  if (signal.aborted) return null // while it was put together; the provider need not hear of it
  if ('fault' in built) return failed(built.fault)
  const { provider } = readiness
  const { clock, session, observer } = parts
  const announce = (retry: Retry) => {
    observer?.retrying?.(session, step, retry)
    return tell({ type: 'model.retrying', step, ...retry })
  }
  const came = await withRetries({ clock, signal, seed: `${session}:${step}`, announce }, () =>
    streamAnswer(parts, { step, provider, request: built.request }, signal),
  )
  const { end, parts: said } = came
  if (signal.aborted || end.type === 'aborted') return null
  if (end.type === 'complete') {
    const { finish, usage, estimate } = end
    return { type: 'model.replied', step, parts: said, finish, usage, estimate }
  }
  const fallback = end.retryable && came.isSilent ? await fallbackFor(parts, model) : undefined
  if (signal.aborted) return null // while another was looked for
  const { fault, happened, usage } = end
  return { type: 'model.failed', step, parts: said, fault, happened, usage, fallback }
}

/** The chain is that of the session's model; whoever was asked in this turn is not asked again. */
function fallbackFor({ models, state }: EffectDeps, model: ModelName): Promise<ModelName | null> {
  const { settings, turn } = state()
  const tried = turn.phase === 'idle' ? [] : (turn.fallback?.tried ?? [])
  return models.fallback(settings.model, [...tried, model])
}
