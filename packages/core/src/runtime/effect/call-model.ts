import { invariant } from '@holdfast/protocol'
import { buildRequest } from '../../context/build-request.ts'
import type { ModelEnd, ModelRequest, ToolSchema } from '../../ports/provider.ts'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import { createDraftKeeper } from '../draft-keeper.ts'
import { readFiles, readWindow } from '../read-window.ts'
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
  const request = await requestOf(parts, effect, told)
  if (signal.aborted) return null // while it was put together; the provider need not hear of it
  const answer = createRunningAnswer(step)
  const keeper = createDraftKeeper(
    parts.clock,
    () => answer.draft(),
    (draft) => parts.store.saveDraft(parts.session, parts.epoch, draft),
  )
  parts.answer = answer
  let end: ModelEnd | null = null
  try {
    for await (const part of readiness.provider.stream(request, { signal })) {
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

/** The request, from records and blobs alone. */
async function requestOf(
  { store, blobs, session, state }: EffectParts,
  { model, thinkingLevel }: CallModel,
  told: ToldTexts,
): Promise<ModelRequest> {
  const now = state()
  invariant(now.context, 'a step begins with its context on record')
  const [window, system, tools] = await Promise.all([
    readWindow(store, session, now),
    told.read(now.context.system),
    told.read(now.context.tools),
  ])
  const schemas: readonly ToolSchema[] = JSON.parse(tools) // our own JSON, named by its hash
  const files = await readFiles(blobs, window)
  const providerOptions = now.origin?.providerOptions
  return buildRequest({ model, thinkingLevel, system, tools: schemas, window, files, providerOptions })
}
