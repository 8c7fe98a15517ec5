import {
  type DiffInput,
  escapeLine,
  type Fault,
  type FileChangePage,
  listTouched,
  type Message,
  type RestoreInput,
  type Seq,
  type TouchedFile,
} from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { counted } from '../../text/format.ts'
import { DialogButton } from '../../ui/dialog-button.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { FileButton } from '../file-view/file-view.tsx'
import { ChangesDialog } from '../files/changes-dialog.tsx'
import { RestoreDialog } from '../files/restore-dialog.tsx'
import { useLive, useSession } from '../state/session-context.ts'
import { PanelSection } from './panel-section.tsx'

const marks: Readonly<Record<TouchedFile['action'], string>> = {
  created: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
}

/** Lists the files that the session changed, each with its newest change. */
export function FilesSection() {
  const { files, canUndo, fault } = useTouchedFiles()
  return (
    <PanelSection title="Changed files" about={files.length > 0 ? counted(files.length, 'file') : undefined}>
      <FaultNote fault={fault} />
      {files.length === 0 && !fault && (
        <p className="nothing">
          {canUndo ? 'Every file is as it was before this session.' : 'No call of this session has changed a file.'}
        </p>
      )}
      {(files.length > 0 || canUndo) && (
        <p className="panel-actions">
          {files.length > 0 && (
            <>
              <ChangesButton name="All changes" request={wholeSessionDiff} title="Changes of this session" />
              <RestoreButton name="Restore all…" request={wholeSession} title="as they were before this session" />
            </>
          )}
          {canUndo && (
            <RestoreButton
              name="Undo last restore…"
              request={lastRestore}
              title="as they were before the last restore"
            />
          )}
        </p>
      )}
      <ul className="touched">
        {files.map(({ path, action }) => (
          <li key={path}>
            <span className={`touched-mark touched-${action}`} title={action} aria-hidden="true">
              {marks[action]}
            </span>
            {action === 'deleted' ? <code>{escapeLine(path)}</code> : <FileButton path={path} />}
            <ChangesButton
              name="Diff"
              label={`Show the change of ${escapeLine(path)}, ${action}`}
              request={{ path }}
              title={`Changes of ${path}`}
            />
            <RestoreButton
              name="Restore…"
              label={`Restore ${escapeLine(path)}`}
              request={{ ...wholeSession, paths: [path] }}
              title="as they were before this session"
            />
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}

/** Every change has a later seq. */
const wholeSession: RestoreInput = { message: 1 }
const lastRestore: RestoreInput = { undo: true }
const wholeSessionDiff: DiffInput = {}

type ChangesButtonProps = Omit<RestoreButtonProps, 'request'> & { readonly request: DiffInput }

/** Opens the diff of changes. */
function ChangesButton({ name, label, request, title }: ChangesButtonProps) {
  const dialog = (close: () => void) => <ChangesDialog request={request} title={title} onClose={close} />
  return (
    <DialogButton className="quiet" label={label} dialog={dialog}>
      {name}
    </DialogButton>
  )
}

type RestoreButtonProps = {
  readonly name: string
  readonly label?: string
  readonly request: RestoreInput
  readonly title: string
}

/** Opens the preview of a restore. */
function RestoreButton({ name, label, request, title }: RestoreButtonProps) {
  const dialog = (close: () => void) => <RestoreDialog request={request} title={title} onClose={close} />
  return (
    <DialogButton className="quiet" label={label} dialog={dialog}>
      {name}
    </DialogButton>
  )
}

type Touched = {
  readonly files: readonly TouchedFile[]
  /** Whether files of the session were put back, so that this can be undone. */
  readonly canUndo: boolean
  readonly fault: Fault | null
}

/** Loads the changed files, again after each call that ended, and after each restore. */
function useTouchedFiles(): Touched {
  const { handle } = useSession()
  const [touched, setTouched] = useState<Touched>({ files: [], canUndo: false, fault: null })
  const ended = useLive(({ messages }) => messages.reduce((sum, message) => sum + changesIn(message), 0))
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call that ended is what changes the answer
  useEffect(() => {
    let isLeft = false
    const load = async () => {
      const pages: FileChangePage[] = []
      for (let before: Seq | null | undefined; before !== null; ) {
        const page = await handle.fileChanges({ before })
        if (isLeft) return
        if (!page.ok) return setTouched((known) => ({ ...known, fault: page.fault }))
        pages.push(page.value)
        before = page.value.before
      }
      const canUndo = pages.some(({ restored = [] }) => restored.length > 0)
      setTouched({ files: listTouched(pages), canUndo, fault: null })
    }
    load()
    return () => {
      isLeft = true
    }
  }, [handle, ended])
  return touched
}

/** Counts what a message says about files: an ended call, what its command did in the background, or a restore. */
function changesIn(message: Message): number {
  if (message.kind === 'tool_call')
    return (message.call.durationMs === null ? 0 : 1) + (message.call.files?.length ?? 0)
  return 'code' in message && message.code === 'files_restored' ? 1 : 0
}
