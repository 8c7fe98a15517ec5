import { contentText, escapeLine, type Fault, type Queue, type QueueEntry } from '@holdfast/protocol'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { keyText } from '../../keys/key-hint.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import type { Commands } from '../state/use-commands.ts'
import { kindText, resultText } from '../subagents/child-text.ts'

type QueueViewProps = {
  readonly queue: readonly QueueEntry[]
  readonly commands: Pick<Commands, 'editEntry' | 'removeEntry' | 'reorder'>
  /** Moves all queued messages back to the input. */
  readonly onRecall: () => void
  /** Sends all queued messages now; null while a turn runs, which takes them by itself. */
  readonly onSendNow: (() => void) | null
}

/** Shows queued messages in the order they will be sent. */
export function QueueView({ queue, commands, onRecall, onSendNow }: QueueViewProps) {
  if (queue.length === 0) return null
  const hold = whyNotRecalled(queue)
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
        title={hold ?? `Edit the queued messages again${keyText('recall')}`}
        onClick={onRecall}
      >
        Edit all in the input
      </button>
      {onSendNow && (
        <button type="button" disabled={hold !== undefined} title={hold} onClick={onSendNow}>
          Send now
        </button>
      )}
    </section>
  )
}

/** Says why the queue cannot go back to the input, which holds what a person wrote. */
export function whyNotRecalled(queue: readonly QueueEntry[]): string | undefined {
  return queue.some(({ child }) => child) ? 'The result of a subagent cannot be edited' : undefined
}

const kindOf = ({ queue, child }: QueueEntry): string =>
  child ? `result of ${kindText(child.agent)}` : queue === 'steering' ? 'next step' : 'after this turn'

type QueueRowProps = {
  readonly entry: QueueEntry
  /** The order with this entry moved, or null at an end. */
  readonly up: readonly number[] | null
  readonly down: readonly number[] | null
  readonly onEdit: (text: string) => Promise<Fault | null>
  readonly onRemove: () => void
  readonly onMove: (entries: readonly number[]) => void
}

/** A queued message. */
function QueueRow({ entry, up, down, onEdit, onRemove, onMove }: QueueRowProps) {
  const [isEditing, setEditing] = useState(false)
  const written = entry.typed ?? contentText(entry.content)
  const text = entry.child ? resultText(written) : written
  const files = entry.content.flatMap((part) => (part.type === 'file' ? [part] : []))
  if (isEditing)
    return (
      <li>
        <QueueEditor text={text} onSave={onEdit} onClose={() => setEditing(false)} />
      </li>
    )
  return (
    <li>
      <span className="queue-kind">{kindOf(entry)}</span>
      <span className="queue-text" dir="auto" title={text}>
        {text}
        {files.map((file) => (
          <span key={file.blob} className="queue-file">
            {escapeLine(file.name ?? file.mediaType)}
          </span>
        ))}
      </span>
      <span className="queue-buttons">
        <button
          type="button"
          className="quiet"
          aria-label="Move up"
          title="Move up"
          disabled={up === null}
          onClick={() => up && onMove(up)}
        >
          ↑
        </button>
        <button
          type="button"
          className="quiet"
          aria-label="Move down"
          title="Move down"
          disabled={down === null}
          onClick={() => down && onMove(down)}
        >
          ↓
        </button>
        {!entry.child && (
          <button type="button" className="quiet" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
        <button type="button" className="quiet" onClick={onRemove}>
          Remove
        </button>
      </span>
    </li>
  )
}

type QueueEditorProps = {
  readonly text: string
  readonly onSave: (text: string) => Promise<Fault | null>
  readonly onClose: () => void
}

/** Edits a queued message. Refused text stays here with the reason. */
function QueueEditor({ text, onSave, onClose }: QueueEditorProps) {
  const [draft, setDraft] = useState(text)
  const [fault, setFault] = useState<Fault | null>(null)
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => box.current?.focus(), [])

  const save = async () => {
    const refused = await onSave(draft)
    if (refused) setFault(refused)
    else onClose()
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    save()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') {
      event.preventDefault() // closes the editor only; it does not stop the turn
      onClose()
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      save()
    }
  }
  return (
    <form className="queue-editor" onSubmit={onSubmit}>
      <textarea
        ref={box}
        aria-label="Queued message"
        rows={Math.min(6, draft.split('\n').length)}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
        dir="auto"
      />
      <FaultNote fault={fault} />
      <span className="queue-buttons">
        <button type="button" className="quiet" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" disabled={draft.trim() === ''}>
          Save
        </button>
      </span>
    </form>
  )
}

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
