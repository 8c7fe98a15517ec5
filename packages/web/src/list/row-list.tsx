import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import type { ListRow } from './list-rows.ts'

type RowListProps = {
  readonly rows: readonly ListRow[]
  readonly draw: (row: ListRow) => ReactNode
  /** Called when the last rows come into view, and when the first do. */
  readonly onEnd: () => void
  readonly onStart: () => void
  /** The row to bring into view when it changes. */
  readonly current: string | null
  /** Another list, which begins at its top. */
  readonly listKey: string
}

/** Heights in px by kind. A row on a touch screen is large enough for a finger. */
const heights = { heading: 32, session: 54, subagents: 30, subagent: 30, found: 78, more: 36, note: 44 } as const
const touchHeights = { ...heights, session: 58, subagents: 44, subagent: 44, more: 44 } as const
const overscan = 8

/** Draws the rows that are in view, of a list of any length. Arrow keys move the focus over all of them. */
export function RowList({ rows, draw, onEnd, onStart, current, listKey }: RowListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const wanted = useRef<string | null>(null)
  const table = globalThis.matchMedia?.('(pointer: coarse)').matches ? touchHeights : heights
  const sizeOf = (row: ListRow | undefined) => (row === undefined ? 0 : table[row.kind])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => sizeOf(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan,
  })
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]

  useKeptPlace(scroller, rows, sizeOf)
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 1 - overscan) onEnd()
  }, [last, rows.length, onEnd])
  useEffect(() => {
    if (first === 0) onStart()
  }, [first, onStart])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins at its top
  useEffect(() => {
    if (scroller.current) scroller.current.scrollTop = 0
  }, [listKey])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another session is shown
  useEffect(() => {
    const index = rows.findIndex(({ key }) => key === current)
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' })
  }, [current])
  // The row that the focus goes to is drawn only now.
  useEffect(() => {
    if (wanted.current === null) return
    const row = findRow(scroller.current, wanted.current)
    if (!row) return
    row.focus({ preventScroll: true })
    wanted.current = null
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const at = document.activeElement?.closest('[data-row]')?.getAttribute('data-row')
    const next = nextRow(rows, at ?? null, event.key)
    if (next === null || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    wanted.current = rows[next]?.key ?? null
    virtual.scrollToIndex(next, { align: 'auto' })
    const row = wanted.current === null ? null : findRow(scroller.current, wanted.current)
    if (!row) return
    row.focus({ preventScroll: true })
    wanted.current = null
  }
  return (
    <div ref={scroller} className="sessions-scroller">
      <ul className="sessions" aria-label="Sessions" style={{ height: virtual.getTotalSize() }} onKeyDown={onKeyDown}>
        {items.map(({ key, index, start, size }) => {
          const row = rows[index]
          return (
            row && (
              <li key={key} data-row={row.key} className={row.kind} style={{ top: start, height: size }}>
                {draw(row)}
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}

const findRow = (within: HTMLElement | null, key: string): HTMLElement | null =>
  within?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"] :is(a, button)`) ?? null

/** Returns the place of the row that a key moves to, or null. */
export function nextRow(rows: readonly ListRow[], from: string | null, key: string): number | null {
  const places = rows.flatMap(({ kind }, index) => (kind === 'heading' || kind === 'note' ? [] : [index]))
  const at = places.findIndex((index) => rows[index]?.key === from)
  switch (key) {
    case 'ArrowDown':
      return places[at + 1] ?? null
    case 'ArrowUp':
      return at > 0 ? (places[at - 1] ?? null) : null
    case 'Home':
      return places[0] ?? null
    case 'End':
      return places.at(-1) ?? null
    default:
      return null
  }
}

/** Keeps what a person sees in its place when rows are added or dropped above it. Who is at the top stays there. */
function useKeptPlace(
  scroller: { readonly current: HTMLElement | null },
  rows: readonly ListRow[],
  sizeOf: (row: ListRow) => number,
): void {
  const before = useRef(rows)
  useLayoutEffect(() => {
    const element = scroller.current
    const old = before.current
    before.current = rows
    if (!element || old === rows || element.scrollTop === 0) return
    let top = 0
    const seen = old.find((row) => {
      top += sizeOf(row)
      return top > element.scrollTop && row.kind !== 'heading'
    })
    if (!seen) return
    let now = 0
    for (const row of rows) {
      now += sizeOf(row)
      if (row.key !== seen.key) continue
      if (now !== top) element.scrollTop += now - top
      return
    }
  })
}
