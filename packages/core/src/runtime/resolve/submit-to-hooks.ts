import {
  type CommandId,
  type Content,
  contentText,
  type Fault,
  fault,
  ok,
  type Result,
  refuse,
} from '@holdfast/protocol'
import type { Facts } from '../../session/facts.ts'
import type { EffectDeps } from '../dependencies.ts'
import { hasHooks, runHooks } from '../effects/run-hooks.ts'

/** Looks again for the hooks of the workspace, before a turn. */
export async function lookForHooks({ hooks, state }: EffectDeps): Promise<void> {
  const { origin } = state()
  if (hooks !== undefined && origin?.hooksEnabled) await hooks.refresh(origin.workdir)
}

/** A command that sends a prompt. */
type PromptSubmission = {
  readonly command: { readonly content: Content }
  readonly commandId: CommandId
}

/**
 * Lets UserPromptSubmit hooks judge a prompt and add to it, as the model would get it. One after the other, so that prompts
 * keep their order. `found` is what is known of the prompt so far.
 */
export async function submitToHooks(
  deps: EffectDeps,
  found: Result<Facts>,
  { command, commandId }: PromptSubmission,
): Promise<Result<Facts>> {
  if (!found.ok || (found.value.expanded && 'note' in found.value.expanded)) return found
  const { content } = found.value.expanded ?? command
  await lookForHooks(deps)
  if (!hasHooks(deps, 'UserPromptSubmit')) return found
  return deps.promptsInOrder(async () => {
    // A retry gets its first answer: the hooks have judged it already.
    if ((await deps.store.findCommand(deps.session, commandId)) !== null) return found
    const moment = { event: 'UserPromptSubmit', prompt: contentText(content) } as const
    const ran = await runHooks(deps, moment, deps.sideWorkSignal())
    if (ran === null) return found
    const veto = ran.answer.block ?? ran.answer.stop
    if (veto !== null) return refuse(vetoed('The prompt', veto))
    return ok({ ...found.value, hooks: { runs: ran.runs, context: ran.answer.context } })
  })
}

/** Returns the fault of what a hook refused. */
export const vetoed = (what: string, reason: string): Fault =>
  fault('hook_vetoed', `${what} was refused by a hook: ${reason}`, { reason })
