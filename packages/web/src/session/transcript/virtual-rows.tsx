import { elementScroll, useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { usageText } from '../../text/format.ts'
import { MessageTime } from './message-time.tsx'
import { MessageView } from './message-view.tsx'
import { estimatedPx, type Row } from './rows.ts'

type RowsOptions = {
  readonly rows: readonly Row[]
  readonly scroller: RefObject<HTMLDivElement | null>
  /** Whether the button for older messages is above the rows. */
  readonly hasRoomAbove: boolean
  /** Whether the end is followed now. Then the list leaves the scroll position alone. */
  readonly isFollowing: () => boolean
}

/** Rows above and below the visible ones that are drawn. */
const overscan = 12

/**
 * Keeps only the rows near the visible ones drawn. Rows have the height that was measured, else a guess. When older rows
 * are added above, or the height of a row above changes, the visible text stays where it is.
 */
export function useVirtualRows({ rows, scroller, hasRoomAbove, isFollowing }: RowsOptions) {
  const list = useRef<HTMLDivElement>(null)
  const [scrollMargin, setMargin] = useState(0)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    measureElement: exactHeight,
    estimateSize: (index) => (rows[index] ? estimatedPx(rows[index]) : 0),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan,
    scrollMargin,
    anchorTo: 'end',
    scrollEndThreshold: -1, // the end is below the rows; `useStickyScroll` follows it
    // The list repeats a correction that did not fit as soon as there is room, which would leave the end again.
    scrollToFn: (offset, options, instance) => {
      const box = instance.scrollElement
      if (box && isFollowing()) box.scrollTop = box.scrollHeight
      else elementScroll(offset, options, instance)
    },
    initialOffset: () => rows.reduce((sum, row) => sum + estimatedPx(row), 0),
  })
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (row, delta, list) =>
    !isFollowing() && movesWhatIsRead(row, delta, list)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is above the rows moves them
  useLayoutEffect(() => {
    if (list.current) setMargin(list.current.offsetTop)
  }, [hasRoomAbove])
  return { list, virtualizer }
}

/** Above the rows there is room for a button. A row that is loaded into it appears above what a person reads. */
const topRoomPx = 60

/** Whether the text that is read moves if a row has another height than was thought; the scroll position is then corrected. */
function movesWhatIsRead(row: VirtualItem, _: number, list: Virtualizer<HTMLDivElement, Element>): boolean {
  const top = list.scrollOffset ?? 0
  if (!list.itemSizeCache.has(row.key)) return row.start < top + topRoomPx
  return row.end <= top && list.scrollDirection !== 'backward'
}

/**
 * Returns the height to a fraction of a point: rounded ones would add up to a jump. Only the observer measures, which
 * runs before the frame is painted; to ask for a height while drawing would lay out the page for each row.
 */
function exactHeight(row: Element, entry: ResizeObserverEntry | undefined, list: Virtualizer<HTMLDivElement, Element>) {
  const box = entry?.borderBoxSize[0]
  if (box) return box.blockSize
  const index = list.indexFromElement(row)
  return list.itemSizeCache.get(list.options.getItemKey(index)) ?? list.options.estimateSize(index)
}

export type VirtualRows = ReturnType<typeof useVirtualRows>

type RowsViewProps = {
  readonly rows: readonly Row[]
  readonly shown: VirtualRows
  /** The output of running calls so far. */
  readonly outputs: ReadonlyMap<unknown, string>
}

/** Draws the rows near the visible ones. They follow each other in the page, so that none can overlap another. */
export function RowsView({ rows, shown: { list, virtualizer }, outputs }: RowsViewProps) {
  const items = virtualizer.getVirtualItems()
  const top = (items[0]?.start ?? 0) - virtualizer.options.scrollMargin
  return (
    <div ref={list} className="rows" style={{ height: virtualizer.getTotalSize() }}>
      <div className="rows-drawn" style={{ transform: `translateY(${top}px)` }}>
        {items.map(({ key, index }) => {
          const row = rows[index]
          if (!row) return null
          const call = row.type === 'message' && row.message.kind === 'tool_call' ? row.message.call.id : undefined
          return (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={row.type === 'message' && row.isOpening ? 'row opening' : 'row'}
            >
              <RowView row={row} liveOutput={call === undefined ? undefined : outputs.get(call)} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

type RowViewProps = { readonly row: Row; readonly liveOutput: string | undefined }

/** Compared by identity: a changed message is in a new row. */
const RowView = memo(function RowView({ row, liveOutput }: RowViewProps) {
  if (row.type === 'message')
    return <MessageView message={row.message} isOpening={row.isOpening} liveOutput={liveOutput} />
  return (
    <>
      {row.fault && <p className="note bad">{row.fault.message}</p>}
      {row.usage && (
        <p className="usage">
          {row.at !== null && <MessageTime at={row.at} />}
          <span>{usageText(row.usage)}</span>
        </p>
      )}
    </>
  )
})
