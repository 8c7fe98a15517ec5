import { isLeftByMove, type RestoreInput } from '@holdfast/protocol'
import { counted } from '../../text/format.ts'
import { doneText } from '../../text/restore-text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { useLive, whyHistoryLocked } from '../state/session-context.ts'
import { DoneRestoreView, RestorePreviewView } from './restored-files.tsx'
import { type Restore, useRestore } from './use-restore.ts'

type RestoreDialogProps = {
  readonly request: RestoreInput
  /** What it goes back to, after "Restore files". */
  readonly title: string
  readonly onClose: () => void
}

/** Shows what a restore of files would do, and does it after a click. A restore can be undone. */
export function RestoreDialog({ request, title, onClose }: RestoreDialogProps) {
  const restore = useRestore(request)
  const { preview, done, fault } = restore
  const isLoading = preview === null && fault === null && (done === null || done.isUndo)
  return (
    <Dialog title={`Restore files ${title}`} onClose={onClose} footer={<RestoreFooter restore={restore} />}>
      <div className="dialog-body">
        <FaultNote fault={fault} />
        {isLoading && <p className="nothing working">Loading</p>}
        {preview && <RestorePreviewView preview={preview} />}
        {done && !done.isUndo && <DoneRestoreView done={done} />}
      </div>
    </Dialog>
  )
}

const promise =
  'Only files that are still as the session left them change. One that changed while a background command ran stays, unless you restore it alone. The messages stay.'

/** Says what happened, and offers what can be done now: restore, or undo what was restored. */
function RestoreFooter({ restore: { preview, done, run, undo } }: { readonly restore: Restore }) {
  const hold = useLive(whyHistoryLocked)
  const off = { disabled: hold !== null, title: hold ?? undefined }
  const count = preview?.files.filter((file) => file.action !== 'none' && !isLeftByMove(file)).length ?? 0
  const canUndo = done !== null && !done.isUndo && done.changed.length > 0
  return (
    <>
      <p role="status">
        {done ? doneText({ isUndo: done.isUndo, changed: done.changed.length, refused: done.refused.length }) : promise}
      </p>
      {canUndo && (
        <button type="button" {...off} onClick={undo}>
          Undo
        </button>
      )}
      {count > 0 && (
        <button type="button" className="primary" {...off} onClick={run}>
          Restore {counted(count, 'file')}
        </button>
      )}
    </>
  )
}
