import type { Event, EventType, SearchRole } from '@holdfast/protocol'
import { clip, textOf } from '@holdfast/protocol/text-of'

/** Only the beginning of a longer message is indexed: the rest is probably a pasted file. */
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

/** The event types that a search finds. */
export const searchedTypes = Object.keys(roles) as readonly EventType[] // the keys of the table above

/** Returns the role of an event type, or null if a search does not find it. */
export const roleOf = (type: string): SearchRole | null => roles[type as EventType] ?? null

/** Returns the searchable text of an event; it may be empty. */
export function searchedText(event: Event): string {
  const text = event.type === 'call.requested' ? [event.tool, ...textsIn(event.args)].join('\n') : textOf(event)
  return clip(text, searchedCharsMax)
}

/** Returns the seq of the message that a record belongs to: a result belongs to its call. */
export const messageSeq = (seq: number, event: Event): number => (event.type === 'call.settled' ? event.call : seq)

/** Returns the values of the arguments; people do not search for their names. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
