import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import { abortableDelay } from '../abortable-delay.ts'
import type { EffectDeps } from '../dependencies.ts'

/** Waits until a question's time is over. Asked again after a crash, it waits for what is left of it. */
export async function awaitApproval(
  { clock }: EffectDeps,
  { call, until }: Extract<Effect, { type: 'await-approval' }>,
  signal: AbortSignal,
): Promise<Report | null> {
  await abortableDelay(clock, Math.max(0, Date.parse(until) - clock.now()), signal)
  return signal.aborted ? null : { type: 'approval.expired', call }
}
