import { escapeHidden, escapeLine, type FileLines, type LineRange } from '@holdfast/protocol'
import { type KeyboardEvent, type MouseEvent, type PointerEvent, useEffect, useRef } from 'react'
import { chooseLine, type LineSelection, lineAfterKey, rangeOf, tapLine } from './line-selection.ts'

type FileTextProps = {
  readonly file: FileLines
  readonly boundary: LineRange | null
  readonly chosen: LineSelection | null
  readonly onChoose: (chosen: LineSelection | null) => void
}

/** Draws the lines. Clicks, taps and keys choose some of them: see `line-selection.ts`. */
export function FileText({ file: { path, lines }, boundary, chosen, onChoose }: FileTextProps) {
  const list = useRef<HTMLDivElement>(null)
  const isTouch = useRef(false)
  const range = chosen && rangeOf(chosen)
  const isIn = (line: number, part: LineRange | null) => part !== null && line >= part.start && line <= part.end

  // So that the keys work at once.
  useEffect(() => list.current?.focus({ preventScroll: true }), [])

  const choose = (next: LineSelection | null) => {
    onChoose(next)
    if (next) list.current?.children[next.end]?.scrollIntoView({ block: 'nearest' })
  }
  const onPointerDown = (event: PointerEvent) => {
    isTouch.current = event.pointerType === 'touch'
  }
  // Else the browser marks the text between the clicks as well.
  const onMouseDown = (event: MouseEvent) => event.shiftKey && event.preventDefault()
  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element ? event.target.closest('[role=option]') : null
    if (!row || !list.current) return
    list.current.focus({ preventScroll: true })
    const line = [...list.current.children].indexOf(row)
    choose(isTouch.current ? tapLine(chosen, line) : chooseLine(chosen, line, event.shiftKey))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isAll = (event.ctrlKey || event.metaKey) && event.key === 'a' && lines.length > 0
    const next = isAll ? null : lineAfterKey(event.key, chosen?.end ?? null, lines.length)
    if (!isAll && (next === null || next < 0)) return
    event.preventDefault()
    choose(isAll ? { anchor: 0, end: lines.length - 1 } : chooseLine(chosen, next ?? 0, event.shiftKey))
  }
  return (
    <div
      ref={list}
      className="file-text"
      role="listbox"
      aria-label={`Lines of ${escapeLine(path)}`}
      aria-multiselectable="true"
      aria-activedescendant={chosen ? lineId(chosen.end) : undefined}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onMouseDown={onMouseDown}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      {lines.map((text, line) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
          key={line}
          id={lineId(line)}
          role="option"
          tabIndex={-1}
          aria-selected={isIn(line, range)}
          className={isIn(line, boundary) ? 'file-line bounded' : 'file-line'}
          data-number={line + 1}
          data-active={line === chosen?.end || undefined}
        >
          {escapeHidden(text) || ' '}
        </div>
      ))}
      {lines.length === 0 && <p className="nothing">This file is empty.</p>}
    </div>
  )
}

const lineId = (line: number): string => `file-line-${line + 1}`
