import { escapeLine, type Fault } from '@holdfast/protocol'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'

type QueueEditorProps = {
  readonly text: string
  readonly onSave: (text: string) => Promise<Fault | null>
  readonly onClose: () => void
}

/** Edits a queued message. Refused text stays here with the reason. */
export function QueueEditor({ text, onSave, onClose }: QueueEditorProps) {
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
      {fault && (
        <p className="fault" role="alert">
          {escapeLine(fault.message)}
        </p>
      )}
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
