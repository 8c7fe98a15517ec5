import type { Event } from '../event/event.ts'
import { addUsage, noUsage, type Usage } from '../value/usage.ts'

/** Every model call counts: the steps of a turn, and those that wrote a summary or a title. */
export function usageAfter(used: Usage, event: Event): Usage {
  const usage = usageOf(event)
  if (usage) return addUsage(used, usage)
  return usage === null && isAnswered(event) ? { ...used, cost: null } : used
}

/** What budgets are held against. What a provider did not count is taken at its estimate, and an unknown price for 0. */
export function spentAfter(spent: Usage, event: Event): Usage {
  const usage = usageOf(event) ?? (event.type === 'step.ended' ? event.estimate : undefined)
  return usage ? addUsage(spent, { ...usage, cost: usage.cost ?? 0 }) : spent
}

/** Whether a call came to its end, so that it cost something, whatever is known of it. */
const isAnswered = (event: Event): boolean => event.type !== 'step.ended' || answeredBy.has(event.finish)
const answeredBy: ReadonlySet<string> = new Set(['stop', 'calls', 'length', 'refused'])

/** The events that tell of a model call, whether or not each does. */
export const modelCallEvents = ['step.ended', 'checkpoint.written', 'summary.saved', 'settings.changed'] as const

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

/** Follows what the turn used that runs, or ran last. Going on with a turn goes on counting. */
export function turnUsageAfter(used: Usage | null, event: Event, isRunning: boolean): Usage | null {
  if (event.type === 'turn.started') return event.cause === 'continue' ? used : noUsage
  if (event.type === 'line.moved') return null
  return isRunning && used ? usageAfter(used, event) : used
}
