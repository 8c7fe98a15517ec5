import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectParts } from './parts.ts'

/** Waits until a question's time is over. Asked again after a crash, it waits for what is left of it. */
export function awaitApproval(
  { clock }: EffectParts,
  { call, until }: Extract<Effect, { type: 'await-approval' }>,
  signal: AbortSignal,
): Promise<Report | null> {
  return new Promise((resolve) => {
    const delayMs = Math.max(0, Date.parse(until) - clock.now())
    const expire = () => resolve({ type: 'approval.expired', call })
    const cancel = clock.after(delayMs, expire, { keepsAlive: true }) // a turn is open: the program is not done
    signal.addEventListener('abort', () => {
      cancel()
      resolve(null)
    })
  })
}
