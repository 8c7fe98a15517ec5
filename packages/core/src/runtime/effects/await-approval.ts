import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import { pause } from '../abortable-delay.ts'
import type { EffectParts } from '../dependencies.ts'

/** Waits until a question's time is over. Asked again after a crash, it waits for what is left of it. */
export async function awaitApproval(
  { clock }: EffectParts,
  { call, until }: Extract<Effect, { type: 'await-approval' }>,
  signal: AbortSignal,
): Promise<Report | null> {
  await pause(clock, Math.max(0, Date.parse(until) - clock.now()), signal)
  return signal.aborted ? null : { type: 'approval.expired', call }
}
