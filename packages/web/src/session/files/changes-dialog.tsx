import { type DiffInput, escapeLine } from '@holdfast/protocol'
import { Dialog } from '../../ui/dialog.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { useSession } from '../state/session-context.ts'
import { ChangedFiles, useChanges } from './changed-files.tsx'

type ChangesDialogProps = { readonly request: DiffInput; readonly title: string; readonly onClose: () => void }

/** Shows what the session did to files: all of it, of one turn, or to one file. */
export function ChangesDialog({ request, title, onClose }: ChangesDialogProps) {
  const { handle } = useSession()
  const { files, fault } = useChanges(handle, request)
  return (
    <Dialog title={escapeLine(title)} onClose={onClose}>
      <div className="dialog-body">
        <FaultNote fault={fault} />
        {files === null && fault === null && <p className="nothing working">Loading</p>}
        {files && <ChangedFiles handle={handle} files={files} />}
      </div>
    </Dialog>
  )
}
