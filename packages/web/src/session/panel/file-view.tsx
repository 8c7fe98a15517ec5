import { escapeHidden, escapeLine, type Fault, type FileLines, type LineRange } from '@holdfast/protocol'
import { type KeyboardEvent, type MouseEvent, useContext, useEffect, useId, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { boundaryText, counted } from '../../text/format.ts'
import { DialogButton } from '../../ui/dialog-button.tsx'
import { FaultNote } from '../../ui/elements.tsx'
import { useLive, useSession, WatchingContext } from '../state/session-context.ts'
import { chooseLine, type LineSelection, lineAfterKey, rangeOf } from './line-selection.ts'

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
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const { file, fault, isLoading, loadMore } = useFile(path)
  const [chosen, setChosen] = useState<LineSelection | null>(null)
  const shown = file?.path ?? path
  const boundary = useLive(({ view }) => view?.boundaries.find((one) => one.path === shown) ?? null)

  useEffect(() => dialog.current?.showModal(), [])
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      className="file-dialog"
      aria-labelledby={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
    >
      <header>
        <h2 id={title}>{escapeLine(shown)}</h2>
        {file && <span className="panel-about">{counted(file.total, 'line')}</span>}
        <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <FaultNote fault={fault} />
      {file && <FileText file={file} boundary={boundary} chosen={chosen} onChoose={setChosen} />}
      {file?.next != null && (
        <button type="button" className="quiet" disabled={isLoading} onClick={loadMore}>
          {isLoading ? 'Loading…' : `Load more: ${file.next.toLocaleString('en')} of ${counted(file.total, 'line')}`}
        </button>
      )}
      <BoundaryBar path={shown} boundary={boundary} chosen={chosen} onDone={() => setChosen(null)} />
    </dialog>,
    document.body,
  )
}

type FileTextProps = {
  readonly file: FileLines
  readonly boundary: LineRange | null
  readonly chosen: LineSelection | null
  readonly onChoose: (chosen: LineSelection) => void
}

/** Draws the lines. Click, Shift+click and the arrow keys choose some of them. */
function FileText({ file: { path, lines }, boundary, chosen, onChoose }: FileTextProps) {
  const list = useRef<HTMLDivElement>(null)
  const range = chosen && rangeOf(chosen)
  const at = chosen?.end ?? 0
  const isIn = (line: number, part: LineRange | null) => part !== null && line >= part.start && line <= part.end

  const choose = (line: number, isExtending: boolean) => {
    onChoose(chooseLine(chosen, line, isExtending))
    list.current?.children[line]?.scrollIntoView({ block: 'nearest' })
  }
  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element ? event.target.closest('[role=option]') : null
    if (!row || !list.current) return
    list.current.focus({ preventScroll: true })
    choose([...list.current.children].indexOf(row), event.shiftKey)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = lineAfterKey(event.key, at, lines.length)
    if (next === null) return
    event.preventDefault()
    choose(chosen === null && event.key === 'ArrowDown' ? 0 : next, event.shiftKey)
  }
  return (
    <div
      ref={list}
      className="file-text"
      role="listbox"
      aria-label={`Lines of ${escapeLine(path)}`}
      aria-multiselectable="true"
      aria-activedescendant={chosen ? `file-line-${at}` : undefined}
      tabIndex={0}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      {lines.map((text, line) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
          key={line}
          id={`file-line-${line}`}
          role="option"
          tabIndex={-1}
          aria-selected={isIn(line, range)}
          className={isIn(line, boundary) ? 'file-line bounded' : 'file-line'}
          data-number={line + 1}
        >
          {escapeHidden(text) || ' '}
        </div>
      ))}
      {lines.length === 0 && <p className="nothing">This file is empty.</p>}
    </div>
  )
}

type BoundaryBarProps = {
  readonly path: string
  readonly boundary: LineRange | null
  readonly chosen: LineSelection | null
  readonly onDone: () => void
}

/** Sets the chosen lines as the edit boundary of the file, or clears it. */
function BoundaryBar({ path, boundary, chosen, onDone }: BoundaryBarProps) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const [fault, setFault] = useState<Fault | null>(null)
  const range = chosen && rangeOf(chosen)
  const set = async () => {
    const refused = range && (await asks.setBoundary(path, range))
    setFault(refused)
    if (!refused) onDone()
  }
  return (
    <footer>
      <FaultNote fault={fault} />
      <p role="status">
        {range
          ? `Chosen: ${boundaryText(range)}.`
          : boundary
            ? `The agent may change only ${boundaryText(boundary)}.`
            : 'The agent may change any line. Choose lines to limit it: click, Shift+click, or the arrow keys with Shift.'}
      </p>
      {boundary && (
        <button type="button" disabled={watching !== null} onClick={() => asks.clearBoundary(path)}>
          Clear boundary
        </button>
      )}
      <button
        type="button"
        className="primary"
        disabled={range === null || watching !== null}
        title={watching ?? undefined}
        onClick={set}
      >
        Allow only these lines
      </button>
    </footer>
  )
}

/** Loads a file page by page. */
function useFile(path: string) {
  const { handle } = useSession()
  const [file, setFile] = useState<FileLines | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const [isLoading, setLoading] = useState(false)
  useEffect(() => {
    let isLeft = false
    handle.readFile({ path }).then((read) => {
      if (isLeft) return
      if (read.ok) setFile(read.value)
      else setFault(read.fault)
    })
    return () => {
      isLeft = true
    }
  }, [handle, path])
  const loadMore = async () => {
    if (file?.next == null) return
    setLoading(true)
    const read = await handle.readFile({ path: file.path, start: file.next })
    setLoading(false)
    setFault(read.ok ? null : read.fault)
    if (read.ok) setFile({ ...read.value, start: 0, lines: [...file.lines, ...read.value.lines] })
  }
  return { file, fault, isLoading, loadMore }
}
