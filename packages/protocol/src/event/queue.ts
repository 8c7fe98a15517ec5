import { z } from 'zod'
import { Content } from '../value/content.ts'
import { EntryId } from '../value/id.ts'
import { Queue } from './turn.ts'

/** A prompt that waits. */
export const QueueEntry = z.object({ id: EntryId, queue: Queue, content: Content })
export type QueueEntry = z.infer<typeof QueueEntry>

export const QueueEdited = z.object({ type: z.literal('queue.edited'), entry: EntryId, content: Content })

/** Taken back before it was sent. What was taken is in the record, so that whoever asked again gets it again. */
export const QueueRemoved = z.object({
  type: z.literal('queue.removed'),
  entries: z.array(QueueEntry).min(1),
  /** Whether whoever took them wanted them back. */
  recalled: z.boolean(),
})

/** The entries of one queue, in their new order. */
export const QueueReordered = z.object({ type: z.literal('queue.reordered'), queue: Queue, entries: z.array(EntryId) })

/** One queue put in a new order; the other, and what the order does not name, stay where they are. */
export function reorderQueue(entries: readonly QueueEntry[], queue: Queue, order: readonly EntryId[]): QueueEntry[] {
  const place = new Map(order.map((id, index) => [id, index]))
  const isMoved = (entry: QueueEntry) => entry.queue === queue && place.has(entry.id)
  const moved = entries.filter(isMoved).sort((left, right) => (place.get(left.id) ?? 0) - (place.get(right.id) ?? 0))
  return entries.map((entry) => (isMoved(entry) ? (moved.shift() ?? entry) : entry))
}
