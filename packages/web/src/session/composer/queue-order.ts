import type { Queue, QueueEntry } from '@holdfast/protocol'

/** As they will be taken: what steers comes before what follows. */
export const inTurnOrder = (entries: readonly QueueEntry[]): readonly QueueEntry[] => [
  ...of(entries, 'steering'),
  ...of(entries, 'follow_up'),
]

/** The ids of an entry's queue with it one place on, or null at the end of the queue. */
export function movedBy(entries: readonly QueueEntry[], entry: QueueEntry, step: -1 | 1): readonly number[] | null {
  const ids = of(entries, entry.queue).map(({ id }) => id)
  const from = ids.indexOf(entry.id)
  const to = from + step
  if (from < 0 || to < 0 || to >= ids.length) return null
  return ids.toSpliced(from, 1).toSpliced(to, 0, entry.id)
}

const of = (entries: readonly QueueEntry[], queue: Queue) => entries.filter((entry) => entry.queue === queue)
