import type { QueueEntry } from '@holdfast/protocol'
import type { Commands } from '../state/use-commands.ts'
import { inTurnOrder, movedBy } from './queue-order.ts'
import { QueueRow } from './queue-row.tsx'

type QueueViewProps = {
  readonly queue: readonly QueueEntry[]
  readonly commands: Pick<Commands, 'editEntry' | 'removeEntry' | 'reorder'>
  /** Moves all queued messages back to the input. */
  readonly onRecall: () => void
}

/** Shows queued messages in the order they will be sent. */
export function QueueView({ queue, commands, onRecall }: QueueViewProps) {
  if (queue.length === 0) return null
  const hold = holdsFile(queue) ? 'A prompt with a file cannot be edited here' : undefined
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
        title={hold ?? 'Edit the queued messages again (Alt+Up)'}
        onClick={onRecall}
      >
        Move to input
      </button>
    </section>
  )
}

/** Whether a queued message has a file; the input holds text only. */
export const holdsFile = (queue: readonly QueueEntry[]): boolean =>
  queue.some(({ content }) => content.some(({ type }) => type === 'file'))
