import { limits } from '@holdfast/protocol'
import { type FormEvent, useRef, useState } from 'react'
import { NeedsServer } from '../screens/needs-server.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { type ActionTarget, type ExportFormat, exportFormats } from './session-actions.ts'

type RenameDialogProps = {
  readonly target: ActionTarget
  readonly onRename: (title: string) => Promise<void>
  readonly onClose: () => void
}

/** Asks for the title of a session. */
export function RenameDialog({ target, onRename, onClose }: RenameDialogProps) {
  const [title, setTitle] = useState(target.title)
  const field = useRef<HTMLInputElement>(null)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void onRename(title.trim())
    onClose()
  }
  return (
    <Dialog title="Rename the session" className="small" focus={field} onClose={onClose}>
      <form className="rename" onSubmit={onSubmit}>
        <NeedsServer>
          <input
            ref={field}
            aria-label="Title"
            value={title}
            maxLength={limits.titleCharsMax}
            onChange={(event) => setTitle(event.target.value)}
            onFocus={(event) => event.target.select()}
          />
          <small>Leave it empty to use the first line of the first prompt.</small>
          <button type="submit" className="primary">
            Rename
          </button>
        </NeedsServer>
      </form>
    </Dialog>
  )
}

type ExportDialogProps = { readonly onChoose: (format: ExportFormat) => void; readonly onClose: () => void }

/** Asks for the format of an export. */
export function ExportDialog({ onChoose, onClose }: ExportDialogProps) {
  return (
    <Dialog title="Export the session" className="small" onClose={onClose}>
      <NeedsServer>
        <div className="export-formats">
          {exportFormats.map(([format, name]) => (
            <button
              key={format}
              type="button"
              onClick={() => {
                onChoose(format)
                onClose()
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </NeedsServer>
    </Dialog>
  )
}
