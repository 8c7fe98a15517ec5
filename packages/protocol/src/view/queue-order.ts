import type { QueueEntry } from '../event/queue.ts'
import type { Queue } from '../event/turn.ts'
import type { EntryId } from '../value/id.ts'

/** One queue put in a new order; the other, and what the order does not name, stay where they are. */
export function reorderQueue(entries: readonly QueueEntry[], queue: Queue, order: readonly EntryId[]): QueueEntry[] {
  const place = new Map(order.map((id, index) => [id, index]))
  const isMoved = (entry: QueueEntry) => entry.queue === queue && place.has(entry.id)
  const moved = entries.filter(isMoved).sort((left, right) => (place.get(left.id) ?? 0) - (place.get(right.id) ?? 0))
  return entries.map((entry) => (isMoved(entry) ? (moved.shift() ?? entry) : entry))
}
