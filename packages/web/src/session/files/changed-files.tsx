import { type DiffInput, escapeLine, type Fault, type FileDiff, type SessionHandle } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { FileDiff as FileDiffView, movedText } from '../../diff/file-diff.tsx'

type Changes = { readonly files: readonly FileDiff[] | null; readonly fault: Fault | null }

/** Loads changes of files as diffs. */
export function useChanges(handle: SessionHandle, { turn, call, path }: DiffInput): Changes {
  const [changes, setChanges] = useState<Changes>({ files: null, fault: null })
  useEffect(() => {
    let isLeft = false
    handle.diffChanges({ turn, call, path }).then((found) => {
      if (!isLeft)
        setChanges(found.ok ? { files: found.value.files, fault: null } : { files: null, fault: found.fault })
    })
    return () => {
      isLeft = true
    }
  }, [handle, turn, call, path])
  return changes
}

const diffLinesMax = 40

/** The element of one file among the changes. */
export const changeElementId = (path: string): string => `change-${path}`

type ChangedFilesProps = { readonly handle: SessionHandle; readonly files: readonly FileDiff[] }

/** Shows one diff for each file. */
export function ChangedFiles({ handle, files }: ChangedFilesProps) {
  if (files.length === 0)
    return (
      <p className="nothing">
        No changes of files are known. Changes by tools are always known, those by commands only in a git repository.
      </p>
    )
  return (
    <ul className="diffs" aria-label="Changes">
      {files.map(({ path, from, change, diff, note }) => (
        <li key={path} id={changeElementId(path)}>
          <FileDiffView
            handle={handle}
            preview={{ type: 'diff', path, diff }}
            about={from === undefined ? change : movedText(from)}
            linesMax={files.length === 1 ? diffLinesMax * 10 : diffLinesMax}
          />
          {note !== undefined && <p className="nothing">{escapeLine(note)}</p>}
        </li>
      ))}
    </ul>
  )
}
