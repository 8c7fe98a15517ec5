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

/** Every model call counts: the steps of a turn, and those that wrote a summary or a title. A budget takes an unknown price for 0. */
export function usageAfter(used: Usage, event: Event, unknownCost: number | null = null): Usage {
  const usage = usageOf(event)
  return usage ? addUsage(used, { ...usage, cost: usage.cost ?? unknownCost }) : used
}

/** The events that tell of a model call, whether or not each does. */
export const callEvents = ['step.ended', 'checkpoint.written', 'summary.saved', 'settings.changed'] as const

/** What the model call used that an event tells of: null where nobody knows, undefined where no model was called. */
export function usageOf(event: Event): Usage | null | undefined {
  switch (event.type) {
    case 'step.ended':
    case 'checkpoint.written':
    case 'summary.saved':
      return event.usage
    case 'settings.changed':
      return event.named?.usage
    default:
      return undefined
  }
}
