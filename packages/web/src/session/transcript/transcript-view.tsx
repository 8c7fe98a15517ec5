import type { LiveView } from '@holdfast/client'
import type { SessionView } from '@holdfast/protocol'
import { useContext, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { keyText } from '../../keys/key-hint.tsx'
import { useKey } from '../../keys/use-key.ts'
import { isBusy } from '../../text/format.ts'
import { ShownOnlyContext, useSession } from '../state/session-context.ts'
import { useVersions, VersionsContext } from '../state/versions.ts'
import { keepPlace, loadTo, placeOf } from './reading-place.ts'
import { promptFrom, type Row, rowsOf } from './rows.ts'
import { offerScroll } from './show-message.ts'
import { TranscriptEnd } from './turn-view.tsx'
import { useTurns } from './turns.ts'
import { useStickyScroll } from './use-sticky-scroll.ts'
import { RowsView, useVirtualRows, type VirtualRows } from './virtual-rows.tsx'

type TranscriptViewProps = {
  readonly live: LiveView
  readonly view: SessionView
  readonly watching: string | null
  readonly onContinue: () => void
}

/** Draws the transcript. It follows the end until a person scrolls up. */
export function TranscriptView({ live, view, watching, onContinue }: TranscriptViewProps) {
  const { handle, asks, takeBack } = useSession()
  const turns = useTurns(live.messages)
  const rows = useMemo(() => rowsOf(turns), [turns])
  const isShownOnly = useContext(ShownOnlyContext)
  const versions = useVersions(handle, view, !isShownOnly && takeBack !== null)
  const [isLoading, setLoading] = useState(false)
  const scroller = useRef<HTMLDivElement>(null)
  const loadOlder = async () => {
    if (isLoading) return
    setLoading(true)
    await live.loadOlder()
    setLoading(false)
  }
  const [place] = useState(() => placeOf(handle.id))
  const scroll = useStickyScroll({
    scroller,
    isHeldAtFirst: place === null,
    onNearTop: () => {
      if (live.hasOlder) loadOlder()
    },
  })
  const hadOlder = useRef(false) // its room stays, so that nothing moves when the oldest page comes
  hadOlder.current ||= live.hasOlder
  const shown = useVirtualRows({ rows, scroller, hasRoomAbove: hadOlder.current, isFollowing: scroll.isFollowing })
  useReadingPlace({ live, rows, shown, scroll })
  // Who sends wants to see what they sent, wherever they read before.
  const onSend = useEffectEvent(scroll.toEnd)
  useEffect(() => asks.followSends(() => onSend()), [asks])
  const jump = (step: 1 | -1) => {
    const { virtualizer } = shown
    const top = virtualizer.getVirtualItemForOffset((virtualizer.scrollOffset ?? 0) + 1)?.index ?? 0
    const target = promptFrom(rows, top, step)
    if (target === -1) return step === 1 ? scroll.toEnd() : undefined
    scroll.letGo()
    virtualizer.scrollToIndex(target, { align: 'start' })
  }
  const hasTurns = turns.length > 1
  useKey('previousTurn', () => jump(-1), hasTurns)
  useKey('nextTurn', () => jump(1), hasTurns)
  const parts = live.live
  const outputs = new Map(parts.flatMap(({ kind, call, text }) => (kind === 'output' ? [[call, text] as const] : [])))
  const isEmpty = rows.length === 0 && parts.length === 0 && !isBusy(view.status)
  return (
    <div className="transcript-frame">
      <div className="transcript" ref={scroller} onScroll={scroll.onScroll}>
        <div className="column" ref={scroll.content} role="log" aria-label="Transcript" aria-live="off">
          {hadOlder.current && (
            <div className="older-slot">
              {live.hasOlder && (
                <button type="button" className="quiet older" disabled={isLoading} onClick={loadOlder}>
                  {isLoading ? 'Loading…' : 'Load older messages'}
                </button>
              )}
            </div>
          )}
          {isEmpty && <p className="empty">No messages yet.{isShownOnly ? '' : ' Write the first one below.'}</p>}
          <VersionsContext value={versions}>
            <RowsView rows={rows} shown={shown} outputs={outputs} />
          </VersionsContext>
          <TranscriptEnd
            messages={turns.at(-1)?.messages ?? []}
            live={parts}
            view={view}
            isBusy={isBusy(view.status)}
            watching={watching}
            onContinue={onContinue}
          />
        </div>
      </div>
      {hasTurns && <TurnJumps onJump={jump} />}
      {!scroll.isAtEnd && !isEmpty && (
        <button type="button" className="to-end" onClick={scroll.toEnd}>
          Latest ↓
        </button>
      )}
    </div>
  )
}

type TurnJumpsProps = { readonly onJump: (step: 1 | -1) => void }

/** Goes from turn to turn. Where it would cover the text, it is not shown: keys, the palette and the session menu do the same. */
const TurnJumps = ({ onJump }: TurnJumpsProps) => (
  <nav className="turn-jumps" aria-label="Turns">
    <button
      type="button"
      className="quiet icon-button"
      aria-label="Previous turn"
      title={`Previous turn${keyText('previousTurn')}`}
      onClick={() => onJump(-1)}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M4 10l4-4 4 4" />
      </svg>
    </button>
    <button
      type="button"
      className="quiet icon-button"
      aria-label="Next turn"
      title={`Next turn${keyText('nextTurn')}`}
      onClick={() => onJump(1)}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M4 6l4 4 4-4" />
      </svg>
    </button>
  </nav>
)

type ReadingPlaceOptions = {
  readonly live: LiveView
  readonly rows: readonly Row[]
  readonly shown: VirtualRows
  readonly scroll: ReturnType<typeof useStickyScroll>
}

/** Returns to where a person read when the session was left, and lets others scroll to a message. */
function useReadingPlace({ live, rows, shown: { virtualizer }, scroll }: ReadingPlaceOptions): void {
  const { handle } = useSession()
  const scrollTo = useEffectEvent((message: number, abovePx: number | null) => {
    const index = rows.findIndex(({ key }) => key === message)
    if (index === -1) return
    scroll.letGo()
    if (abovePx === null) return virtualizer.scrollToIndex(index, { align: 'center' })
    const [start] = virtualizer.getOffsetForIndex(index, 'start') ?? [0]
    virtualizer.scrollToOffset(start + abovePx)
  })
  const save = useEffectEvent(() => {
    const offset = virtualizer.scrollOffset ?? 0
    const item = virtualizer.getVirtualItemForOffset(offset)
    const row = item && rows.slice(item.index).find(({ type }) => type === 'message')
    const isPlace = !scroll.isHeld.current && item && row?.type === 'message'
    keepPlace(handle.id, isPlace ? { message: row.message.id, abovePx: offset - item.start } : null)
  })
  useEffect(() => {
    const place = placeOf(handle.id)
    let isLeft = false
    if (place) {
      loadTo(live, place.message).then((isLoaded) => {
        // The rows that were just loaded are drawn in the next frame.
        if (isLoaded && !isLeft) requestAnimationFrame(() => !isLeft && scrollTo(place.message, place.abovePx))
      })
    }
    const stop = offerScroll(handle.id, (message) => scrollTo(message, null))
    return () => {
      isLeft = true
      stop()
      save()
    }
  }, [handle, live])
}
