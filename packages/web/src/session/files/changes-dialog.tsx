import { type DiffInput, escapeLine } from '@holdfast/protocol'
import { useEffect, useId, useRef } from 'react'
import { createPortal } from 'react-dom'
import { FaultNote } from '../../ui/elements.tsx'
import { useSession } from '../state/session-context.ts'
import { ChangedFiles, useChanges } from './changed-files.tsx'

type ChangesDialogProps = { readonly request: DiffInput; readonly title: string; readonly onClose: () => void }

/** Shows what the session did to files: all of it, of one turn, or to one file. */
export function ChangesDialog({ request, title, onClose }: ChangesDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const { handle } = useSession()
  const { files, fault } = useChanges(handle, request)
  useEffect(() => dialog.current?.showModal(), [])
  return createPortal(
    <dialog ref={dialog} className="file-dialog restore-dialog" aria-labelledby={heading} onClose={onClose}>
      <header>
        <h2 id={heading}>{escapeLine(title)}</h2>
        <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <div className="restore-body">
        <FaultNote fault={fault} />
        {files === null && fault === null && <p className="nothing working">Loading</p>}
        {files && <ChangedFiles handle={handle} files={files} />}
      </div>
    </dialog>,
    document.body,
  )
}
