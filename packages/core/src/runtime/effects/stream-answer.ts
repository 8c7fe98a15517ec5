import { invariant, type StepId } from '@holdfast/protocol'
import type { ModelEnd, ModelRequest, Provider, SaidPart } from '../../ports/provider.ts'
import type { EffectDeps } from '../dependencies.ts'
import { createRunningAnswer } from '../running-answer.ts'
import { createDraftAutosave } from './draft-autosave.ts'
import type { Tried } from './with-retries.ts'

export type Heard = Tried & { readonly parts: readonly SaidPart[] }

type Question = { readonly step: StepId; readonly provider: Provider; readonly request: ModelRequest }

/** Asks a model once, and shows the answer as it comes. */
export async function streamAnswer(
  parts: EffectDeps,
  { step, provider, request }: Question,
  signal: AbortSignal,
): Promise<Heard> {
  const answer = createRunningAnswer(step)
  const keeper = createDraftAutosave(
    parts.clock,
    () => answer.draft(),
    async (draft) => parts.storage.hear(await parts.store.saveDraft(parts.session, parts.epoch, draft)),
  )
  parts.answer = answer
  let end: ModelEnd | null = null
  let isSilent = true
  try {
    for await (const part of provider.stream(request, { signal })) {
      if (signal.aborted) return { end: { type: 'aborted' }, isSilent, parts: [] }
      if (part.type === 'end') {
        end = part.end
        break
      }
      if (isSilent) parts.observer?.answering?.(parts.session, step)
      isSilent = false
      answer.add(part)
      if (part.type !== 'delta') continue
      keeper.touch()
      parts.hub.show({ step, part: part.part, kind: part.kind, tool: part.tool }, part.text)
    }
  } finally {
    keeper.stop()
  }
  invariant(end, `the provider of ${request.model} ended without an end`)
  return { end, isSilent, parts: answer.parts }
}
