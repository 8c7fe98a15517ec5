import {
  type DiffInput,
  escapeLine,
  type Fault,
  listTouched,
  type Message,
  type RestoreInput,
  type Seq,
  type StoredFileChange,
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
  const { files, fault } = useTouchedFiles()
  return (
    <PanelSection title="Changed files" about={files.length > 0 ? counted(files.length, 'file') : undefined}>
      <FaultNote fault={fault} />
      {files.length === 0 && !fault && <p className="nothing">No call of this session has changed a file.</p>}
      {files.length > 0 && (
        <p className="panel-actions">
          <ChangesButton name="All changes" request={wholeSessionDiff} title="Changes of this session" />
          <RestoreButton name="Restore all…" request={wholeSession} title="as they were before this session" />
          <RestoreButton name="Undo last restore…" request={lastRestore} title="as they were before the last restore" />
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

type Touched = { readonly files: readonly TouchedFile[]; readonly fault: Fault | null }

/** Loads the changed files, again after each call that ended. */
function useTouchedFiles(): Touched {
  const { handle } = useSession()
  const [touched, setTouched] = useState<Touched>({ files: [], fault: null })
  const ended = useLive(({ messages }) => messages.filter(isEndedCall).length)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call that ended is what changes the answer
  useEffect(() => {
    let isLeft = false
    const load = async () => {
      const changes: StoredFileChange[] = []
      for (let before: Seq | null | undefined; before !== null; ) {
        const page = await handle.fileChanges({ before })
        if (isLeft) return
        if (!page.ok) return setTouched((known) => ({ ...known, fault: page.fault }))
        changes.push(...page.value.changes)
        before = page.value.before
      }
      setTouched({ files: listTouched(changes), fault: null })
    }
    load()
    return () => {
      isLeft = true
    }
  }, [handle, ended])
  return touched
}

const isEndedCall = (message: Message): boolean => message.kind === 'tool_call' && message.call.durationMs !== null
