import type { QueueEntry } from '@holdfast/protocol'
import type { Commands } from '../state/use-commands.ts'
import { inTurnOrder, movedBy } from './queue-order.ts'
import { QueueRow } from './queue-row.tsx'

type QueueViewProps = {
  readonly queue: readonly QueueEntry[]
  readonly commands: Pick<Commands, 'editEntry' | 'removeEntry' | 'reorder'>
  /** Puts all of it back into the input. */
  readonly onRecall: () => void
}

/** What was said and waits for its moment, in the order it will be taken. */
export function QueueView({ queue, commands, onRecall }: QueueViewProps) {
  if (queue.length === 0) return null
  const hold = holdsFile(queue) ? 'A file cannot be put back into the input' : undefined
  return (
    <section className="queue" aria-label="Queued messages">
      <ol aria-label="Queue">
        {inTurnOrder(queue).map((entry) => (
          <QueueRow
            key={entry.id}
            entry={entry}
            up={movedBy(queue, entry, -1)}
            down={movedBy(queue, entry, 1)}
            onEdit={(text) => commands.editEntry(entry, text)}
            onRemove={() => commands.removeEntry(entry)}
            onMove={(entries) => commands.reorder(entry.queue, entries)}
          />
        ))}
      </ol>
      <button
        type="button"
        className="quiet"
        disabled={hold !== undefined}
        title={hold ?? 'Put what waits back into the input (Alt+Up)'}
        onClick={onRecall}
      >
        Take back into the input
      </button>
    </section>
  )
}

/** The input holds words only: what has a file stays in the queue rather than lose it. */
export const holdsFile = (queue: readonly QueueEntry[]): boolean =>
  queue.some(({ content }) => content.some(({ type }) => type === 'file'))
