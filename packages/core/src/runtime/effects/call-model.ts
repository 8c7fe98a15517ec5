import { InvariantViolation, invariant, limits, type ModelFault, type ModelName, type StepId } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import { ownSlice } from '../../ports/own-slice.ts'
import type { ModelEnd, ModelPart, ModelRequest, Provider, SaidPart } from '../../ports/provider.ts'
import type { Draft } from '../../ports/store/draft.ts'
import type { Report } from '../../session/input.ts'
import type { EffectOf } from '../../session/plan.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'
import { hasStopHooks } from './finish-turn.ts'
import { type ContextBlobs, modelUnavailable } from './prepare-step.ts'
import { requestForStep } from './step-request.ts'
import { type ModelCallEnd, type Retry, withRetries } from './with-retries.ts'

/** Sends the line to the model, with retries, streams the answer, and reports it when it is complete. */
export async function callModel(
  deps: EffectDeps,
  effect: EffectOf<'call-model'>,
  contextBlobs: ContextBlobs,
  { signal, report, early }: EffectRun,
): Promise<Report | null> {
  const { step, model } = effect
  const failed = (fault: ModelFault): Report => ({ type: 'model.failed', step, parts: [], fault, usage: null })
  const readiness = deps.models.find(model)
  if (readiness.type !== 'ready') return failed(modelUnavailable(readiness))
  const built = await requestForStep(
    deps,
    early?.state ?? deps.state(),
    { ...effect, takes: readiness.takes },
    contextBlobs,
    early?.writing,
  )
  if (signal.aborted) return null // aborted while the request was built
  if ('fault' in built) return failed(built.fault)
  const { provider } = readiness
  const { clock, session, observer } = deps
  const announce = (retry: Retry) => {
    observer?.retrying?.(session, step, retry)
    return report({ type: 'model.retrying', step, ...retry })
  }
  const { end, parts, isSilent } = await withRetries({ clock, signal, seed: `${session}:${step}`, announce }, () =>
    streamAnswer(deps, { step, provider, request: built.request }, signal, early?.recorded),
  )
  if (signal.aborted || end.type === 'aborted') return null
  if (end.type === 'complete') {
    const { finish, usage, estimate } = end
    return { type: 'model.replied', step, parts, finish, usage, estimate, hasStopHooks: hasStopHooks(deps) }
  }
  const fallback = end.retryable && isSilent ? await fallbackFor(deps, model) : undefined
  if (signal.aborted) return null // aborted while a fallback was looked for
  const { fault, happened, usage } = end
  return { type: 'model.failed', step, parts, fault, happened, usage, fallback }
}

/** Finds the next fallback of the session's model that was not tried in this turn. */
function fallbackFor({ models, state }: EffectDeps, model: ModelName): Promise<ModelName | null> {
  const { settings, turn } = state()
  const tried = turn.phase === 'idle' ? [] : (turn.fallback?.tried ?? [])
  return models.fallback(settings.model, [...tried, model])
}

/** A model may have many parts ready at once. After so many of them, other work comes first. */
const partsPerSlice = 500

/** Calls a model once and streams its answer. */
async function streamAnswer(
  deps: EffectDeps,
  { step, provider, request }: Readonly<{ step: StepId; provider: Provider; request: ModelRequest }>,
  signal: AbortSignal,
  recorded: Promise<unknown> | undefined,
): Promise<ModelCallEnd & { readonly parts: readonly SaidPart[] }> {
  const stream = startNow(provider.stream(request, { signal }))
  await recorded
  const answer = createRunningAnswer(step)
  const autosave = createDraftAutosave(deps.clock, answer.draft, async (draft) =>
    deps.storage.track(await deps.store.saveDraft(deps.session, deps.epoch, draft)),
  )
  deps.answer = answer
  let end: ModelEnd | null = null
  let isSilent = true
  let taken = 0
  try {
    for await (const part of stream) {
      if (++taken % partsPerSlice === 0) await ownSlice()
      if (signal.aborted) return { end: { type: 'aborted' }, isSilent, parts: [] }
      if (part.type === 'end') {
        end = part.end
        break
      }
      if (isSilent) deps.observer?.answering?.(deps.session, step)
      isSilent = false
      if (!isPart(part))
        throw new InvariantViolation(`the provider of ${request.model} sent a part that cannot be used`)
      answer.add(part)
      if (part.type !== 'delta') continue
      autosave.touch()
      deps.hub.show({ step, part: part.part, kind: part.kind, tool: part.tool }, part.text)
    }
  } finally {
    autosave.stop()
  }
  invariant(end, `the provider of ${request.model} ended without an end`)
  return { end, isSilent, parts: answer.parts() }
}

/** Asks for the first value at once, not when somebody reads. */
function startNow<Value>(values: AsyncIterable<Value>): AsyncIterable<Value> {
  const iterator = values[Symbol.asyncIterator]()
  let first: Promise<IteratorResult<Value>> | null = iterator.next()
  first.catch(() => undefined) // the reader gets the error
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        const next = first ?? iterator.next()
        first = null
        return next
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  }
}

/** Checks what a session would store: a provider may be the program's own, and untyped. */
function isPart(part: Exclude<ModelPart, { type: 'end' }>): boolean {
  if (!Number.isInteger(part.part) || part.part < 0) return false
  if (part.type === 'delta') return typeof part.text === 'string'
  const { said } = part
  return said.type === 'call' ? typeof said.tool === 'string' && isJsonObject(said.args) : typeof said.text === 'string'
}

const isJsonObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Saves a growing answer at most once a second, so that a crash loses at most a second of it. */
export function createDraftAutosave(clock: Clock, draft: () => Draft | null, save: (draft: Draft) => Promise<unknown>) {
  let cancel: (() => void) | null = null
  let isStopped = false
  return {
    touch(): void {
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
    stop(): void {
      isStopped = true
      cancel?.()
    },
  }
}

/** Collects an answer while it streams. */
function createRunningAnswer(step: StepId) {
  const slots: { part: SaidPart; fragments: string[] | null }[] = []
  const parts = (): readonly SaidPart[] =>
    slots.flatMap(({ part, fragments }) => [
      fragments && part.type !== 'call' ? { ...part, text: fragments.join('') } : part,
    ])
  return {
    step,
    parts,
    add(piece: Exclude<ModelPart, { type: 'end' }>): void {
      if (piece.type === 'said') slots[piece.part] = { part: piece.said, fragments: null }
      else if (piece.kind !== 'input') {
        // The input of an unfinished call is shown live but never stored.
        const slot = slots[piece.part]
        if (slot?.fragments) slot.fragments.push(piece.text)
        else slots[piece.part] = { part: { type: piece.kind, text: '' }, fragments: [piece.text] }
      }
    },
    draft(): Draft | null {
      const spoken = parts().filter(({ type }) => type !== 'call')
      return spoken.length === 0 ? null : { step, parts: spoken }
    },
  }
}
