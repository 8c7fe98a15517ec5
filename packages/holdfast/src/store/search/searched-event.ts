import type { Event, EventType, SearchRole } from '@holdfast/protocol'
import { clip, textOf } from '@holdfast/protocol/text-of'

/** Of a longer message the beginning is found: the rest is likely a file that someone pasted. */
const searchedCharsMax = 100_000

const roles: Partial<Record<EventType, SearchRole>> = {
  'user.said': 'user',
  'text.said': 'assistant',
  'thinking.said': 'assistant',
  'call.requested': 'tool',
  'call.settled': 'tool',
  'note.added': 'system',
  'checkpoint.written': 'system',
  'summary.saved': 'system',
}

/** The types whose records can be found. */
export const searchedTypes = Object.keys(roles) as readonly EventType[] // the keys of the table above

/** Who a record of this type is from; null when none of its kind is found. */
export const roleOf = (type: string): SearchRole | null => roles[type as EventType] ?? null

/** The words that a record is found by; empty when it has none. */
export function searchedText(event: Event): string {
  const text = event.type === 'call.requested' ? [event.tool, ...textsIn(event.args)].join('\n') : textOf(event)
  return clip(text, searchedCharsMax)
}

/** The message that a record belongs to: what came of a call belongs to the call. */
export const messageSeq = (seq: number, event: Event): number => (event.type === 'call.settled' ? event.call : seq)

/** What someone might remember of a call: its values, not their names. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
