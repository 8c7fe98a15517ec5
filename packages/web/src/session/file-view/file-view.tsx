import { escapeLine } from '@holdfast/protocol'
import { useState } from 'react'
import { counted } from '../../text/format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogButton } from '../../ui/dialog-button.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { useLive } from '../state/session-context.ts'
import { BoundaryBar } from './boundary-bar.tsx'
import { FileText } from './file-text.tsx'
import type { LineSelection } from './line-selection.ts'
import { useFile } from './use-file.ts'

/** A path that opens its file. */
export function FileButton({ path }: { readonly path: string }) {
  const dialog = (close: () => void) => <FileDialog path={path} onClose={close} />
  return (
    <DialogButton className="link file-button" dialog={dialog}>
      <code>{escapeLine(path)}</code>
    </DialogButton>
  )
}

type FileDialogProps = { readonly path: string; readonly onClose: () => void }

/** Shows a file of the workdir, as it is now. Lines can be chosen, and become the edit boundary of the file. */
export function FileDialog({ path, onClose }: FileDialogProps) {
  const { file, fault, isLoading, loadMore } = useFile(path)
  const [chosen, setChosen] = useState<LineSelection | null>(null)
  const shown = file?.path ?? path
  const boundary = useLive(({ view }) => view?.boundaries.find((one) => one.path === shown) ?? null)
  return (
    <Dialog
      title={escapeLine(shown)}
      isPath
      about={file ? counted(file.total, 'line') : undefined}
      footer={
        file && <BoundaryBar path={shown} lines={file.total} boundary={boundary} chosen={chosen} onChoose={setChosen} />
      }
      onClose={onClose}
    >
      <FaultNote fault={fault} />
      {file && <FileText file={file} boundary={boundary} chosen={chosen} onChoose={setChosen} />}
      {file?.next != null && (
        <button type="button" className="quiet" disabled={isLoading} onClick={loadMore}>
          {isLoading ? 'Loading…' : `Load more: ${file.next.toLocaleString('en')} of ${counted(file.total, 'line')}`}
        </button>
      )}
    </Dialog>
  )
}
