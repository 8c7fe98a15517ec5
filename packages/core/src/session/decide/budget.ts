import { type Fault, fault, limits } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

/** Returns the budget that the next model call would exceed, or null. A turn stops between calls, never within one. */
export function limitReached(
  { settings, used }: SessionState,
  steps: number,
): { readonly code: string; readonly text: string } | null {
  const { maxSteps = limits.stepsPerTurnMax } = settings.budgets
  if (steps >= maxSteps) {
    return {
      code: 'step_limit',
      text: `The turn has made ${steps} model calls, which is its limit. Continue to go on.`,
    }
  }
  return spentUp({ settings, used })
}

type Spent = Pick<SessionState, 'settings' | 'used'>

/** Returns the session budget that is used up, or null. */
function spentUp({ settings, used }: Spent): { readonly code: string; readonly text: string } | null {
  const { maxTokens, maxCost } = settings.budgets
  const tokens = used.input + used.output + used.cacheRead + used.cacheWrite
  if (maxTokens !== undefined && tokens >= maxTokens) {
    return { code: 'token_limit', text: `The session has used ${tokens} tokens of ${maxTokens}.` }
  }
  if (maxCost !== undefined && used.cost !== null && used.cost >= maxCost) {
    return { code: 'cost_limit', text: `The session has cost ${used.cost.toFixed(4)} of ${maxCost}.` }
  }
  return null
}

/** Returns a fault if no turn may begin because a budget is used up. */
export function overBudget(state: Spent): Fault | null {
  const spent = spentUp(state)
  return spent && fault('over_budget', `${spent.text} Raise the budget to go on.`, { limit: spent.code })
}
