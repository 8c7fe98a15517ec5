import type { Queue, QueueEntry } from '@holdfast/protocol'

/** Sorts entries as they will be sent: steering before follow-ups. */
export const inTurnOrder = (entries: readonly QueueEntry[]): readonly QueueEntry[] => [
  ...of(entries, 'steering'),
  ...of(entries, 'follow_up'),
]

/** Returns the ids of the queue with one entry moved, or null at an end. */
export function movedBy(entries: readonly QueueEntry[], entry: QueueEntry, step: -1 | 1): readonly number[] | null {
  const ids = of(entries, entry.queue).map(({ id }) => id)
  const from = ids.indexOf(entry.id)
  const to = from + step
  if (from < 0 || to < 0 || to >= ids.length) return null
  return ids.toSpliced(from, 1).toSpliced(to, 0, entry.id)
}

const of = (entries: readonly QueueEntry[], queue: Queue) => entries.filter((entry) => entry.queue === queue)
