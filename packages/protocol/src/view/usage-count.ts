import type { Event } from '../event/event.ts'
import { addUsage, noUsage, type Usage } from '../value/usage.ts'

/** Adds the usage of an event. Every model call counts, also those that wrote a summary or a title. */
export function usageAfter(used: Usage, event: Event): Usage {
  const usage = usageOf(event)
  if (usage) return addUsage(used, usage)
  return usage === null && isAnswered(event) ? { ...used, cost: null } : used
}

/** Adds the usage of an event for budgets: estimated when the provider reported none, an unknown cost as 0. */
export function spentAfter(spent: Usage, event: Event): Usage {
  const usage = usageOf(event) ?? (event.type === 'step.ended' ? event.estimate : undefined)
  return usage ? addUsage(spent, { ...usage, cost: usage.cost ?? 0 }) : spent
}

/** Whether a model call was answered, and so cost something even if no usage is known. */
const isAnswered = (event: Event): boolean => event.type !== 'step.ended' || answeredBy.has(event.finish)
const answeredBy: ReadonlySet<string> = new Set(['stop', 'calls', 'length', 'refused'])

/** The events that can report a model call. */
export const modelCallEvents = ['step.ended', 'checkpoint.written', 'summary.saved', 'settings.changed'] as const

/** Returns the usage an event reports: null when unknown, undefined when no model was called. */
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

/** Returns the usage of the current or last turn after `event`. Continuing a turn keeps counting. */
export function turnUsageAfter(used: Usage | null, event: Event, isRunning: boolean): Usage | null {
  if (event.type === 'turn.started') return event.cause === 'continue' ? used : noUsage
  if (event.type === 'line.moved') return null
  return isRunning && used ? usageAfter(used, event) : used
}
