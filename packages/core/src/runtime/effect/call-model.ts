import { HoldfastError, invariant, type ModelFault } from '@holdfast/protocol'
import type { ModelEnd, ModelRequest, ToolSchema } from '../../ports/provider.ts'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import { logDamaged } from '../damage.ts'
import { createDraftKeeper } from '../draft-keeper.ts'
import { WindowDamaged } from '../read-window.ts'
import { createRunningAnswer } from '../running-answer.ts'
import type { EffectParts } from './parts.ts'
import type { ToldTexts } from './told-texts.ts'
import { unreadyFault } from './unready-fault.ts'

type CallModel = Extract<Effect, { type: 'call-model' }>

/** Sends the line to the model, shows the answer as it comes, and reports it whole. */
export async function callModel(
  parts: EffectParts,
  effect: CallModel,
  told: ToldTexts,
  signal: AbortSignal,
): Promise<Report | null> {
  const { step, model } = effect
  const readiness = parts.models.find(model)
  if (readiness.type !== 'ready')
    return { type: 'model.failed', step, parts: [], fault: unreadyFault(readiness), usage: null }
  const built = await requestOf(parts, effect, told, readiness.takes)
  if (signal.aborted) return null // while it was put together; the provider need not hear of it
  if ('fault' in built) return { type: 'model.failed', step, parts: [], fault: built.fault, usage: null }
  const answer = createRunningAnswer(step)
  const keeper = createDraftKeeper(
    parts.clock,
    () => answer.draft(),
    async (draft) => parts.storage.hear(await parts.store.saveDraft(parts.session, parts.epoch, draft)),
  )
  parts.answer = answer
  let end: ModelEnd | null = null
  try {
    for await (const part of readiness.provider.stream(built.request, { signal })) {
      if (signal.aborted) return null
      if (part.type === 'end') {
        end = part.end
        break
      }
      answer.add(part)
      if (part.type !== 'delta') continue
      keeper.touch()
      parts.hub.show({ step, part: part.part, kind: part.kind, tool: part.tool }, part.text)
    }
  } finally {
    keeper.stop()
  }
  invariant(end, `the provider of ${model} ended without an end`)
  if (end.type === 'aborted') return null
  if (end.type === 'failed')
    return { type: 'model.failed', step, parts: answer.parts, fault: end.fault, usage: end.usage }
  return { type: 'model.replied', step, parts: answer.parts, finish: end.finish, usage: end.usage }
}

/** The request, from records and blobs alone; or why there is none. */
async function requestOf(
  parts: EffectParts,
  { model, thinkingLevel }: CallModel,
  told: ToldTexts,
  takes: readonly string[] | undefined,
): Promise<{ readonly request: ModelRequest } | { readonly fault: ModelFault }> {
  const { session, requests } = parts
  const { context, line, seq, checkpoint, pins, origin } = parts.state()
  invariant(context, 'a step begins with its context on record')
  const place = { session, line, seq, checkpoint, pins }
  const providerOptions = origin?.providerOptions
  try {
    const [system, schemas] = await Promise.all([told.read(context.system), told.read(context.tools)])
    const tools: readonly ToolSchema[] = JSON.parse(schemas) // our own JSON, named by its hash
    const asked = { ...place, model, thinkingLevel, system, tools, takes, providerOptions }
    return { request: await requests.build(asked) }
  } catch (cause) {
    if (cause instanceof WindowDamaged) return { fault: asModelFault(logDamaged(session, [cause.seq])) }
    if (cause instanceof HoldfastError) return { fault: asModelFault(cause) }
    throw cause
  }
}

const asModelFault = ({ message }: { readonly message: string }): ModelFault => ({ kind: 'passthrough', message })
