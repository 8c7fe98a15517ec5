import type { LiveView } from '@holdfast/client'
import type { SessionView } from '@holdfast/protocol'
import { memo, useContext, useState } from 'react'
import { isBusy } from '../../text/format.ts'
import { ShownOnlyContext } from '../state/session-context.ts'
import { LastTurn, PastTurn } from './turn-view.tsx'
import { type TurnMessages, useTurns } from './turns.ts'
import { useStickyScroll } from './use-sticky-scroll.ts'

type TranscriptViewProps = {
  readonly live: LiveView
  readonly view: SessionView
  readonly watching: string | null
  readonly onContinue: () => void
}

/** Draws the transcript. It follows the end until a person scrolls up. */
export function TranscriptView({ live, view, watching, onContinue }: TranscriptViewProps) {
  const turns = useTurns(live.messages)
  const isShownOnly = useContext(ShownOnlyContext)
  const [isLoading, setLoading] = useState(false)
  const loadOlder = async () => {
    if (isLoading) return
    setLoading(true)
    scroll.keepPlace()
    await live.loadOlder()
    setLoading(false)
  }
  const scroll = useStickyScroll({
    firstId: live.messages[0]?.id,
    onNearTop: () => {
      if (live.hasOlder) loadOlder()
    },
  })
  const isEmpty = turns.length === 0 && live.live.length === 0 && !isBusy(view.status)
  return (
    <div className="transcript-frame">
      <div
        className={scroll.isAtEnd ? 'transcript held' : 'transcript'}
        ref={scroll.scroller}
        onScroll={scroll.onScroll}
      >
        <div className="column" ref={scroll.content} role="log" aria-label="Transcript" aria-live="polite">
          {live.hasOlder && (
            <button type="button" className="quiet older" disabled={isLoading} onClick={loadOlder}>
              {isLoading ? 'Loading…' : 'Load older messages'}
            </button>
          )}
          {isEmpty && <p className="empty">No messages yet.{isShownOnly ? '' : ' Write the first one below.'}</p>}
          <PastTurns turns={turns} />
          <LastTurn
            turn={turns.at(-1)}
            live={live.live}
            view={view}
            isBusy={isBusy(view.status)}
            watching={watching}
            onContinue={onContinue}
          />
        </div>
      </div>
      {!scroll.isAtEnd && (
        <button type="button" className="to-end" onClick={scroll.toEnd}>
          Latest ↓
        </button>
      )}
    </div>
  )
}

/** Not redrawn while only the last turn streams: `useTurns` then returns the same list. */
const PastTurns = memo(function PastTurns({ turns }: { readonly turns: readonly TurnMessages[] }) {
  return turns.slice(0, -1).map((turn) => <PastTurn key={turn.turn} turn={turn} />)
})
