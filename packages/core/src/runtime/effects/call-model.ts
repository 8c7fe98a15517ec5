import { HoldfastError, invariant, limits, type ModelFault, type ModelName, type StepId } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { ModelEnd, ModelReadiness, ModelRequest, Provider, SaidPart, ToolSchema } from '../../ports/provider.ts'
import type { Draft } from '../../ports/store.ts'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectDeps } from '../dependencies.ts'
import { logDamaged, WindowDamaged } from '../log/read-window.ts'
import type { EffectRun } from '../performer.ts'
import { createRunningAnswer } from '../running-answer.ts'
import type { ContextBlobs } from './context-blobs.ts'

import { type Retry, type Tried, withRetries } from './with-retries.ts'

/** Sends the line to the model, with retries, streams the answer, and reports it when it is complete. */
export async function callModel(
  deps: EffectDeps,
  effect: Extract<Effect, { type: 'call-model' }>,
  contextBlobs: ContextBlobs,
  { signal, tell }: EffectRun,
): Promise<Report | null> {
  const { step, model } = effect
  const failed = (fault: ModelFault): Report => ({ type: 'model.failed', step, parts: [], fault, usage: null })
  const readiness = deps.models.find(model)
  if (readiness.type !== 'ready') return failed(modelUnavailable(readiness))
  const built = await requestForStep(deps, effect, contextBlobs, readiness.takes)
  if (signal.aborted) return null // aborted while the request was built
  if ('fault' in built) return failed(built.fault)
  const { provider } = readiness
  const { clock, session, observer } = deps
  const announce = (retry: Retry) => {
    observer?.retrying?.(session, step, retry)
    return tell({ type: 'model.retrying', step, ...retry })
  }
  const came = await withRetries({ clock, signal, seed: `${session}:${step}`, announce }, () =>
    streamAnswer(deps, { step, provider, request: built.request }, signal),
  )
  const { end, parts: said } = came
  if (signal.aborted || end.type === 'aborted') return null
  if (end.type === 'complete') {
    const { finish, usage, estimate } = end
    return { type: 'model.replied', step, parts: said, finish, usage, estimate }
  }
  const fallback = end.retryable && came.isSilent ? await fallbackFor(deps, model) : undefined
  if (signal.aborted) return null // aborted while a fallback was looked for
  const { fault, happened, usage } = end
  return { type: 'model.failed', step, parts: said, fault, happened, usage, fallback }
}

/** Finds the next fallback of the session's model that was not tried in this turn. */
function fallbackFor({ models, state }: EffectDeps, model: ModelName): Promise<ModelName | null> {
  const { settings, turn } = state()
  const tried = turn.phase === 'idle' ? [] : (turn.fallback?.tried ?? [])
  return models.fallback(settings.model, [...tried, model])
}

/** Builds the request from records and blobs, or returns why it cannot. */
async function requestForStep(
  deps: EffectDeps,
  { model, thinkingLevel }: Extract<Effect, { type: 'call-model' }>,
  contextBlobs: ContextBlobs,
  takes: readonly string[] | undefined,
): Promise<{ readonly request: ModelRequest } | { readonly fault: ModelFault }> {
  const { session, requests } = deps
  const { context, line, seq, checkpoint, pins, origin } = deps.state()
  invariant(context, 'a step begins with its context on record')
  const place = { session, line, seq, checkpoint, pins }
  const providerOptions = origin?.providerOptions
  try {
    const [system, schemas] = await Promise.all([contextBlobs.read(context.system), contextBlobs.read(context.tools)])
    const tools: readonly ToolSchema[] = JSON.parse(schemas) // our own JSON, checked by its hash
    const asked = { ...place, model, thinkingLevel, system, tools, takes, providerOptions }
    return { request: await requests.build(asked) }
  } catch (cause) {
    if (cause instanceof WindowDamaged) return { fault: asModelFault(logDamaged(session, [cause.seq])) }
    if (cause instanceof HoldfastError) return { fault: asModelFault(cause) }
    throw cause
  }
}

const asModelFault = ({ message }: { readonly message: string }): ModelFault => ({ kind: 'passthrough', message })

type Heard = Tried & { readonly parts: readonly SaidPart[] }

type Question = { readonly step: StepId; readonly provider: Provider; readonly request: ModelRequest }

/** Calls a model once and streams its answer. */
async function streamAnswer(
  deps: EffectDeps,
  { step, provider, request }: Question,
  signal: AbortSignal,
): Promise<Heard> {
  const answer = createRunningAnswer(step)
  const keeper = createDraftAutosave(
    deps.clock,
    () => answer.draft(),
    async (draft) => deps.storage.hear(await deps.store.saveDraft(deps.session, deps.epoch, draft)),
  )
  deps.answer = answer
  let end: ModelEnd | null = null
  let isSilent = true
  try {
    for await (const part of provider.stream(request, { signal })) {
      if (signal.aborted) return { end: { type: 'aborted' }, isSilent, parts: [] }
      if (part.type === 'end') {
        end = part.end
        break
      }
      if (isSilent) deps.observer?.answering?.(deps.session, step)
      isSilent = false
      answer.add(part)
      if (part.type !== 'delta') continue
      keeper.touch()
      deps.hub.show({ step, part: part.part, kind: part.kind, tool: part.tool }, part.text)
    }
  } finally {
    keeper.stop()
  }
  invariant(end, `the provider of ${request.model} ended without an end`)
  return { end, isSilent, parts: answer.parts }
}

/** Saves a growing answer at most once a second, so that a crash loses at most a second of it. */
interface DraftAutosave {
  touch(): void
  stop(): void
}

export function createDraftAutosave(
  clock: Clock,
  draft: () => Draft | null,
  save: (draft: Draft) => Promise<unknown>,
): DraftAutosave {
  let cancel: (() => void) | null = null
  let isStopped = false
  return {
    touch() {
      if (cancel || isStopped) return
      cancel = clock.after(limits.draftSaveMs, () => {
        const now = isStopped ? null : draft()
        const saved = now ? save(now) : Promise.resolve()
        const again = () => {
          cancel = null
        }
        saved.then(again, again) // a draft that failed to save is saved with the next fragment
      })
    },
    stop() {
      isStopped = true
      cancel?.()
    },
  }
}

type Unready = Exclude<ModelReadiness, { readonly type: 'ready' }>

/** Returns the fault to record for a model that is not ready: an unknown model is not a refused key. */
export const modelUnavailable = ({ type, message }: Unready): ModelFault => ({
  kind: type === 'no_credentials' ? 'auth_failed' : 'passthrough',
  message,
})
