import {
  commandResult,
  escapeLine,
  type Fault,
  type RefusedFile,
  type RestoreAction,
  type RestoreInput,
  type RestorePreview,
} from '@holdfast/protocol'
import { useContext, useEffect, useId, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { FileDiff } from '../../diff/file-diff.tsx'
import { counted } from '../../text/format.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { useLive, useSession, WatchingContext, whyHistoryLocked } from '../state/session-context.ts'

type RestoreDialogProps = {
  readonly request: RestoreInput
  /** What it goes back to, after "Restore files". */
  readonly title: string
  readonly onClose: () => void
}

const words: Readonly<Record<RestoreAction, string>> = {
  restore: 'becomes what it was',
  recreate: 'comes back',
  delete: 'is deleted',
  none: 'is already as it was',
}

const diffLinesMax = 30

/** Shows what a restore of files would do, and does it after a click. A restore can be undone. */
export function RestoreDialog({ request, title, onClose }: RestoreDialogProps) {
  const { handle, asks } = useSession()
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const watching = useContext(WatchingContext)
  const hold = useLive(whyHistoryLocked)
  const [preview, setPreview] = useState<RestorePreview | null>(null)
  const [done, setDone] = useState<string | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const [asked, setAsked] = useState(request)

  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => {
    let isLeft = false
    handle.previewRestore(asked).then((found) => {
      if (isLeft) return
      setFault(found.ok ? null : found.fault)
      setPreview(found.ok ? found.value : null)
    })
    return () => {
      isLeft = true
    }
  }, [handle, asked])

  const run = async (what: RestoreInput) => {
    const answer = await asks.restoreFiles(what)
    if (!answer.ok) return setFault(answer.fault)
    const { restored, refused } = commandResult('restoreFiles', answer.value)
    const changed = restored.filter(({ action }) => action !== 'none').length
    setFault(null)
    setDone(
      `${counted(changed, 'file')} put back${refused.length === 0 ? '' : `, ${counted(refused.length, 'file')} left alone`}.`,
    )
    setAsked({ ...request }) // shows what is left to do now
  }
  const changing = preview?.files.filter(({ action }) => action !== 'none') ?? []
  return createPortal(
    <dialog ref={dialog} className="file-dialog restore-dialog" aria-labelledby={heading} onClose={onClose}>
      <header>
        <h2 id={heading}>Restore files {title}</h2>
        <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <div className="restore-body">
        <FaultNote fault={fault} />
        {preview === null && fault === null && <p className="nothing working">Loading</p>}
        {preview && changing.length === 0 && preview.refused.length === 0 && (
          <p className="nothing">There is nothing to restore: every file is as it was.</p>
        )}
        <ul className="restored" aria-label="Files that will change">
          {changing.map(({ path, action, diff }) => (
            <li key={path}>
              {diff === '' ? (
                <p>
                  <code>{escapeLine(path)}</code> {words[action]}
                </p>
              ) : (
                <FileDiff
                  handle={handle}
                  preview={{ type: 'diff', path, diff }}
                  about={words[action]}
                  linesMax={diffLinesMax}
                />
              )}
            </li>
          ))}
        </ul>
        {preview && preview.refused.length > 0 && <RefusedFiles files={preview.refused} />}
      </div>
      <footer>
        <p role="status">{done ?? 'Only files that are still as the session left them change. The messages stay.'}</p>
        {done !== null && (
          <button type="button" disabled={hold !== null} title={hold ?? undefined} onClick={() => run({ undo: true })}>
            Undo
          </button>
        )}
        <button
          type="button"
          className="primary"
          disabled={changing.length === 0 || hold !== null || watching !== null}
          title={hold ?? undefined}
          onClick={() => run(asked)}
        >
          Restore {counted(changing.length, 'file')}
        </button>
      </footer>
    </dialog>,
    document.body,
  )
}

const RefusedFiles = ({ files }: { readonly files: readonly RefusedFile[] }) => (
  <>
    <h3>Left alone</h3>
    <ul className="restored" aria-label="Files that stay as they are">
      {files.map(({ path, why }) => (
        <li key={path}>
          <p>
            <code>{escapeLine(path)}</code>: {escapeLine(why)}
          </p>
        </li>
      ))}
    </ul>
  </>
)
