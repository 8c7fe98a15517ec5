import { limits } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

/** The budget that the next model call would break, in words, or null: a turn stops between calls, never within one. */
export function limitReached(
  { settings, used }: SessionState,
  steps: number,
): { readonly code: string; readonly text: string } | null {
  const { maxSteps = limits.stepsPerTurnMax, maxTokens, maxCost } = settings.budgets
  if (steps >= maxSteps) {
    return {
      code: 'step_limit',
      text: `The turn has made ${steps} model calls, which is its limit. Continue to go on.`,
    }
  }
  const tokens = used.input + used.output + used.cacheRead + used.cacheWrite
  if (maxTokens !== undefined && tokens >= maxTokens) {
    return { code: 'token_limit', text: `The session has used ${tokens} tokens of ${maxTokens}.` }
  }
  if (maxCost !== undefined && used.cost !== null && used.cost >= maxCost) {
    return { code: 'cost_limit', text: `The session has cost ${used.cost.toFixed(4)} of ${maxCost}.` }
  }
  return null
}
