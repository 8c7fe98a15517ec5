import { cutFilesText, noChangesText, readTouched } from '@holdfast/client/internal'
import { type DiffInput, escapeLine, type Fault, type RestoreInput, type TouchedFile } from '@holdfast/protocol'
import { useEffect, useRef, useState } from 'react'
import { counted } from '../../text/format.ts'
import { focusIfFree } from '../../ui/dialog.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { FileButton } from '../file-view/file-view.tsx'
import { ChangesDialog } from '../files/changes-dialog.tsx'
import { RestoreDialog } from '../files/restore-dialog.tsx'
import { useSession } from '../state/session-context.ts'
import { Loading, PanelSection } from './panel-section.tsx'
import { useFileChangeCount } from './use-file-change-count.ts'

const marks: Readonly<Record<TouchedFile['action'], string>> = {
  created: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
}

/** Lists the files that the session changed, each with its newest change. */
export function FilesSection() {
  const { files: loaded, isCut, none, canUndo, fault } = useTouchedFiles()
  const files = loaded ?? []
  const { shown, onOpen, onClose } = useFileDialog()
  return (
    <PanelSection title="Changed files" about={files.length > 0 ? counted(files.length, 'file') : undefined}>
      <FaultNote fault={fault} />
      {loaded === null && !fault && <Loading />}
      {loaded?.length === 0 && !fault && (
        <p className="nothing">{canUndo ? 'Every file is as it was before this session.' : none}</p>
      )}
      {isCut && <p className="nothing">{cutFilesText}</p>}
      {(files.length > 0 || canUndo) && (
        <p className="panel-actions">
          {files.length > 0 && (
            <>
              <FileAction name="All changes" request={{ diff: {} }} title="Changes of this session" onOpen={onOpen} />
              <FileAction
                name="Restore all…"
                request={{ restore: wholeSession }}
                title={sessionTitle}
                onOpen={onOpen}
              />
            </>
          )}
          {canUndo && (
            <FileAction
              name="Undo last restore…"
              request={{ restore: { undo: true } }}
              title="as they were before the last restore"
              onOpen={onOpen}
            />
          )}
        </p>
      )}
      <ul className="touched">
        {files.map((file) => (
          <TouchedRow key={file.path} file={file} onOpen={onOpen} />
        ))}
      </ul>
      {shown && <FileDialog shown={shown} onClose={onClose} />}
    </PanelSection>
  )
}

type TouchedRowProps = Pick<FileActionProps, 'onOpen'> & { readonly file: TouchedFile }

function TouchedRow({ file: { path, from, action, during, child }, onOpen }: TouchedRowProps) {
  const name = from === undefined ? path : `${from} → ${path}`
  return (
    <li>
      <span className={`touched-mark touched-${action}`} title={action} aria-hidden="true">
        {marks[action]}
      </span>
      <span className="touched-path">
        {from !== undefined && (
          <>
            <code>{escapeLine(from)}</code> <span>→</span>
          </>
        )}
        {action === 'deleted' ? <code>{escapeLine(path)}</code> : <FileButton path={path} />}
        {during && <span className="panel-about"> while a command ran in the background</span>}
        {child !== undefined && <span className="panel-about"> by a subagent</span>}
      </span>
      <FileAction
        name="Diff"
        label={`Diff: show the change of ${escapeLine(name)}, ${action}`}
        request={{ diff: { path } }}
        title={`Changes of ${name}`}
        onOpen={onOpen}
      />
      <FileAction
        name="Restore…"
        label={`Restore… ${escapeLine(name)}`}
        request={{ restore: { ...wholeSession, paths: [path] } }}
        title={sessionTitle}
        onOpen={onOpen}
      />
    </li>
  )
}

/** Every change has a later seq. */
const wholeSession: RestoreInput = { message: 1 }
const sessionTitle = 'as they were before this session'

type Shown = {
  readonly title: string
  readonly request: { readonly restore: RestoreInput } | { readonly diff: DiffInput }
}

type FileActionProps = Shown & {
  readonly name: string
  readonly label?: string
  readonly onOpen: (shown: Shown, button: HTMLButtonElement) => void
}

/** Opens a diff of changes, or the preview of a restore. */
const FileAction = ({ name, label, title, request, onOpen }: FileActionProps) => (
  <button
    type="button"
    className="quiet"
    aria-label={label}
    onClick={({ currentTarget }) => onOpen({ title, request }, currentTarget)}
  >
    {name}
  </button>
)

/** The open dialog. It belongs to the section: a restore can remove the row of the button that opened it. */
function useFileDialog() {
  const [shown, setShown] = useState<Shown | null>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const onOpen: FileActionProps['onOpen'] = (asked, button) => {
    opener.current = button
    setShown(asked)
  }
  const onClose = () => {
    setShown(null)
    focusIfFree(opener.current)
  }
  return { shown, onOpen, onClose }
}

type FileDialogProps = { readonly shown: Shown; readonly onClose: () => void }

function FileDialog({ shown: { title, request }, onClose }: FileDialogProps) {
  if ('diff' in request) return <ChangesDialog request={request.diff} title={title} onClose={onClose} />
  return <RestoreDialog request={request.restore} title={title} onClose={onClose} />
}

type Touched = {
  /** Null until they are loaded. */
  readonly files: readonly TouchedFile[] | null
  /** Whether only the files of the newest changes are listed. */
  readonly isCut: boolean
  /** What is said if there are none. */
  readonly none: string
  /** Whether files of the session were put back, so that this can be undone. */
  readonly canUndo: boolean
  readonly fault: Fault | null
}

/** Loads the changed files, again after each call that ended, and after each restore. */
function useTouchedFiles(): Touched {
  const { handle } = useSession()
  const [touched, setTouched] = useState<Touched>({ files: null, isCut: false, none: '', canUndo: false, fault: null })
  const ended = useFileChangeCount()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call that ended is what changes the answer
  useEffect(() => {
    let isLeft = false
    const load = async () => {
      const read = await readTouched(handle)
      if (isLeft) return
      if (!read.ok) return setTouched((known) => ({ ...known, fault: read.fault }))
      const { files, isCut = false, hasRestored: canUndo } = read.value
      const none = files.length > 0 ? '' : await noChangesText(handle, 'No call of this session has changed a file.')
      if (!isLeft) setTouched({ files, isCut, none, canUndo, fault: null })
    }
    load()
    return () => {
      isLeft = true
    }
  }, [handle, ended])
  return touched
}
