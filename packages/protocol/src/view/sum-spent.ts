import type { Spent, Usage } from '../value/usage.ts'

// Loads no schema: the threads of a store start without zod.

export const noneSpent: Spent = { calls: 0, unpriced: 0, tokens: 0, cost: 0 }

/** Adds two sums. The cost is unknown only if no call has a price. */
export function addSpent(left: Spent, right: Spent): Spent {
  const calls = left.calls + right.calls
  const unpriced = left.unpriced + right.unpriced
  const cost = calls > 0 && calls === unpriced ? null : (left.cost ?? 0) + (right.cost ?? 0)
  return { calls, unpriced, tokens: left.tokens + right.tokens, cost }
}

/** Returns what one model call has cost. A usage of null is unknown. */
export function spentBy(usage: Usage | null): Spent {
  if (usage === null) return { calls: 1, unpriced: 1, tokens: 0, cost: null }
  const { input, output, cacheRead, cacheWrite, cost } = usage
  return { calls: 1, unpriced: cost === null ? 1 : 0, tokens: input + output + cacheRead + cacheWrite, cost }
}
