import { contentText, escapeLine, type Fault, type QueueEntry } from '@holdfast/protocol'
import { useState } from 'react'
import { QueueEditor } from './queue-editor.tsx'

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
export function QueueRow({ entry, up, down, onEdit, onRemove, onMove }: QueueRowProps) {
  const [isEditing, setEditing] = useState(false)
  const text = contentText(entry.content)
  const files = entry.content.flatMap((part) => (part.type === 'file' ? [part] : []))
  if (isEditing)
    return (
      <li>
        <QueueEditor text={text} onSave={onEdit} onClose={() => setEditing(false)} />
      </li>
    )
  return (
    <li>
      <span className="queue-kind">{entry.queue === 'steering' ? 'steers next' : 'follows'}</span>
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
        <button type="button" className="quiet" onClick={() => setEditing(true)}>
          Edit
        </button>
        <button type="button" className="quiet" onClick={onRemove}>
          Remove
        </button>
      </span>
    </li>
  )
}
