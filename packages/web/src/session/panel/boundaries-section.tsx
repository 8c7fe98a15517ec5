import { type Boundary, escapeLine, linesText } from '@holdfast/protocol'
import { type FormEvent, useContext, useEffect, useRef, useState } from 'react'
import { focusIfFree } from '../../ui/dialog.tsx'
import { FileButton, FileDialog } from '../file-view/file-view.tsx'
import { useSession, WatchingContext } from '../state/session-context.ts'
import { PanelSection } from './panel-section.tsx'
import { useFileChangeCount } from './use-file-change-count.ts'
import { whySuspended } from './why-suspended.ts'

/** Lists the files with an edit boundary, and opens a file to set one. */
export function BoundariesSection({ boundaries }: { readonly boundaries: readonly Boundary[] }) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const off = { disabled: watching !== null, title: watching ?? undefined }
  return (
    <PanelSection title="Edit boundaries" part="boundaries">
      <ul className="bounded">
        {boundaries.map((boundary) => (
          <BoundaryRow key={boundary.path} boundary={boundary} />
        ))}
      </ul>
      {boundaries.length > 1 && (
        <p className="panel-actions">
          <button type="button" className="quiet" {...off} onClick={() => asks.clearBoundary(null)}>
            Clear all
          </button>
        </p>
      )}
      <OpenFile />
      <p className="nothing">In an open file, choose the lines that the agent may change.</p>
    </PanelSection>
  )
}

function BoundaryRow({ boundary: { path, ...range } }: { readonly boundary: Boundary }) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const why = useSuspended(path)
  return (
    <li>
      <FileButton path={path} />
      <span className="panel-about">{linesText(range)}</span>
      <button
        type="button"
        disabled={watching !== null}
        title={watching ?? undefined}
        aria-label={`Clear the edit boundary of ${escapeLine(path)}`}
        onClick={() => asks.clearBoundary(path)}
      >
        Clear
      </button>
      {why !== null && (
        <p role="note" className="suspended">
          {why}
        </p>
      )}
    </li>
  )
}

/** Looks at the file of a boundary, again after each call that ended. Returns why edits of it are denied, or null. */
function useSuspended(path: string): string | null {
  const { handle } = useSession()
  const [why, setWhy] = useState<string | null>(null)
  const ended = useFileChangeCount()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call that ended is what changes the answer
  useEffect(() => {
    let isLeft = false
    handle.readFile({ path, limit: 1 }).then((read) => {
      if (!isLeft) setWhy(whySuspended(path, read))
    })
    return () => {
      isLeft = true
    }
  }, [handle, path, ended])
  return why
}

/** Opens a file by its path. */
function OpenFile() {
  const [path, setPath] = useState('')
  const [opened, setOpened] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const open = (event: FormEvent) => {
    event.preventDefault()
    if (path.trim() !== '') setOpened(path.trim())
  }
  return (
    <form className="open-file" onSubmit={open}>
      <input
        ref={input}
        aria-label="File to open"
        placeholder="src/file.ts"
        value={path}
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => setPath(event.target.value)}
      />
      <button type="submit" disabled={path.trim() === ''}>
        Open file
      </button>
      {opened !== null && (
        <FileDialog
          path={opened}
          onClose={() => {
            setOpened(null)
            focusIfFree(input.current)
          }}
        />
      )}
    </form>
  )
}
