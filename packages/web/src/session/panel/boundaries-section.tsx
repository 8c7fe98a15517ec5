import { type Boundary, escapeLine, linesText } from '@holdfast/protocol'
import { type FormEvent, useContext, useRef, useState } from 'react'
import { FileButton, FileDialog } from '../file-view/file-view.tsx'
import { useSession, WatchingContext } from '../state/session-context.ts'
import { PanelSection } from './panel-section.tsx'

/** Lists the files with an edit boundary, and opens a file to set one. */
export function BoundariesSection({ boundaries }: { readonly boundaries: readonly Boundary[] }) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const off = { disabled: watching !== null, title: watching ?? undefined }
  return (
    <PanelSection title="Edit boundaries" part="boundaries">
      <ul className="bounded">
        {boundaries.map(({ path, ...range }) => (
          <li key={path}>
            <FileButton path={path} />
            <span className="panel-about">{linesText(range)}</span>
            <button
              type="button"
              {...off}
              aria-label={`Clear the edit boundary of ${escapeLine(path)}`}
              onClick={() => asks.clearBoundary(path)}
            >
              Clear
            </button>
          </li>
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
            input.current?.focus()
          }}
        />
      )}
    </form>
  )
}
