import { type DiffInput, diffCounts, diffLines, escapeLine, type FileDiff } from '@holdfast/protocol'
import { useState } from 'react'
import { Counts } from '../../diff/file-diff.tsx'
import { counted } from '../../text/format.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { useSession } from '../state/session-context.ts'
import { ChangedFiles, changeElementId, useChanges } from './changed-files.tsx'

type ChangesDialogProps = { readonly request: DiffInput; readonly title: string; readonly onClose: () => void }

/** Shows what the session did to files as one diff: all of it, of one turn, or to one file. */
export function ChangesDialog({ request, title, onClose }: ChangesDialogProps) {
  const { handle } = useSession()
  const { files, fault } = useChanges(handle, request)
  return (
    <Dialog
      title={escapeLine(title)}
      className="wide-dialog"
      about={files && files.length > 0 && <Totals files={files} />}
      footer={files && files.length > 0 && <CopyPatch files={files} />}
      onClose={onClose}
    >
      <div className="dialog-body">
        <FaultNote fault={fault} />
        {files === null && fault === null && <p className="nothing working">Loading</p>}
        {files && files.length > 1 && <FileLinks files={files} />}
        {files && <ChangedFiles handle={handle} files={files} />}
      </div>
    </Dialog>
  )
}

type FilesProps = { readonly files: readonly FileDiff[] }

const countsOf = (files: readonly FileDiff[]) =>
  files
    .map(({ diff }) => diffCounts(diffLines(diff)))
    .reduce((sum, one) => ({ added: sum.added + one.added, removed: sum.removed + one.removed }), {
      added: 0,
      removed: 0,
    })

const Totals = ({ files }: FilesProps) => (
  <>
    {counted(files.length, 'file')} <Counts {...countsOf(files)} />
  </>
)

/** Leads to each file of a long diff. */
function FileLinks({ files }: FilesProps) {
  const show = (path: string) => document.getElementById(changeElementId(path))?.scrollIntoView({ block: 'start' })
  return (
    <ul className="change-links" aria-label="Files">
      {files.map((file) => (
        <li key={file.path}>
          <button type="button" className="link" onClick={() => show(file.path)}>
            {escapeLine(file.path)}
          </button>{' '}
          <Counts {...countsOf([file])} />
        </li>
      ))}
    </ul>
  )
}

/** Copies all changes as one patch, as `git apply` takes it. */
function CopyPatch({ files }: FilesProps) {
  const [isCopied, setCopied] = useState(false)
  if (!navigator.clipboard) return <p>To copy the diff, open the page over HTTPS or on this machine.</p>
  const patch = files.map(({ diff }) => (diff.endsWith('\n') ? diff : `${diff}\n`)).join('')
  const copy = () => navigator.clipboard.writeText(patch).then(() => setCopied(true))
  return (
    <>
      <p role="status">{isCopied ? 'The patch is in the clipboard.' : 'All of it as one patch:'}</p>
      <button type="button" onClick={copy}>
        Copy as patch
      </button>
    </>
  )
}
