import { z } from 'zod'
import type { Event } from './event/event.ts'

const tokens = z.int().min(0)

/** What model calls used. An unknown price is null, never 0. */
export const Usage = z.object({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  cost: z.number().min(0).nullable(),
})
export type Usage = z.infer<typeof Usage>

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }

/** Sums; one unknown price makes the sum unknown. */
export const addUsage = (left: Usage, right: Usage): Usage => ({
  input: left.input + right.input,
  output: left.output + right.output,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheWrite: left.cacheWrite + right.cacheWrite,
  cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
})

/** Every model call counts: the steps of a turn, and those that wrote a summary. A budget takes an unknown price for 0. */
export function usageAfter(used: Usage, event: Event, unknownCost: number | null = null): Usage {
  const isCall = event.type === 'step.ended' || event.type === 'checkpoint.written' || event.type === 'summary.saved'
  if (!isCall || !event.usage) return used
  return addUsage(used, { ...event.usage, cost: event.usage.cost ?? unknownCost })
}
