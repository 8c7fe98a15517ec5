import { z } from 'zod'
import { Content } from '../value/content.ts'
import { EntryId } from '../value/id.ts'
import { Queue, TypedPrompt } from './turn.ts'

/** A queued prompt. */
export const QueueEntry = z.object({ id: EntryId, queue: Queue, content: Content, ...TypedPrompt.shape })
export type QueueEntry = z.infer<typeof QueueEntry>

export const queueEvents = [
  z.object({ type: z.literal('queue.edited'), entry: EntryId, content: Content, ...TypedPrompt.shape }),
  /** Prompts were removed from the queue. The record holds them, so that a retried command gets the same answer. */
  z.object({
    type: z.literal('queue.removed'),
    entries: z.array(QueueEntry).min(1),
    /** Whether the client wanted them back. */
    recalled: z.boolean(),
  }),
  /** The entries of one queue, in their new order. */
  z.object({ type: z.literal('queue.reordered'), queue: Queue, entries: z.array(EntryId) }),
] as const

/** Returns the queue entry of a prompt. */
export const queuedEntry = (
  id: EntryId,
  queue: Queue,
  prompt: Pick<QueueEntry, 'content'> & TypedPrompt,
): QueueEntry => ({
  id,
  queue,
  content: prompt.content,
  ...(prompt.typed !== undefined && { typed: prompt.typed }),
  ...(prompt.skill && { skill: prompt.skill }),
  ...(prompt.context !== undefined && { context: prompt.context }),
  ...(prompt.child && { child: prompt.child }),
  ...(prompt.payer !== undefined && { payer: prompt.payer }),
})

/** Reorders one queue. Entries of the other queue and entries not named stay in place. */
export function reorderQueue(entries: readonly QueueEntry[], queue: Queue, order: readonly EntryId[]): QueueEntry[] {
  const rank = new Map(order.map((id, index) => [id, index]))
  const isMoved = (entry: QueueEntry) => entry.queue === queue && rank.has(entry.id)
  const moved = entries.filter(isMoved).sort((left, right) => (rank.get(left.id) ?? 0) - (rank.get(right.id) ?? 0))
  return entries.map((entry) => (isMoved(entry) ? (moved.shift() ?? entry) : entry))
}
