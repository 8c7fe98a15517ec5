import { escapeLine, isLeftByMove, type RefusedFile, type RestorePreview } from '@holdfast/protocol'
import { FileDiff } from '../../diff/file-diff.tsx'
import { restoredText, restoreText } from '../../text/restore-text.ts'
import { useSession } from '../state/session-context.ts'
import type { DoneRestore } from './use-restore.ts'

const diffLinesMax = 30

/** Shows what a restore would do to each file, as a diff from now to then. */
export function RestorePreviewView({ preview: { files, refused } }: { readonly preview: RestorePreview }) {
  const { handle } = useSession()
  const changing = files.filter((file) => file.action !== 'none' && !isLeftByMove(file))
  return (
    <>
      {changing.length === 0 && refused.length === 0 && (
        <p className="nothing">There is nothing to restore: every file is as it was.</p>
      )}
      {changing.length > 0 && (
        <ul className="diffs" aria-label="Files that will change">
          {changing.map(({ path, action, movedFrom, diff }) => (
            <li key={path}>
              {diff === '' ? (
                <NamedFile path={path} text={restoreText(action, movedFrom)} />
              ) : (
                <FileDiff
                  handle={handle}
                  preview={{ type: 'diff', path, diff }}
                  about={restoreText(action, movedFrom)}
                  linesMax={diffLinesMax}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <RefusedFiles files={refused} title="Will be left alone" />
    </>
  )
}

/** Lists what a restore has done. */
export function DoneRestoreView({ done: { changed, refused } }: { readonly done: DoneRestore }) {
  return (
    <>
      {changed.length > 0 && (
        <ul className="diffs" aria-label="Files that were put back">
          {changed.map(({ path, action, movedFrom }) => (
            <li key={path}>
              <NamedFile path={path} text={restoredText(action, movedFrom)} />
            </li>
          ))}
        </ul>
      )}
      <RefusedFiles files={refused} title="Left alone" />
    </>
  )
}

type RefusedFilesProps = { readonly files: readonly RefusedFile[]; readonly title: string }

function RefusedFiles({ files, title }: RefusedFilesProps) {
  if (files.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul className="diffs" aria-label="Files that stay as they are">
        {files.map(({ path, why }) => (
          <li key={path}>
            <NamedFile path={path} text={escapeLine(why)} />
          </li>
        ))}
      </ul>
    </>
  )
}

const NamedFile = ({ path, text }: { readonly path: string; readonly text: string }) => (
  <p>
    <code>{escapeLine(path)}</code> {text}
  </p>
)
