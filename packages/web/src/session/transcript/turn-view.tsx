import type { LivePart, SessionView } from '@holdfast/protocol'
import { memo } from 'react'
import { usageText } from '../../text/usage-text.ts'
import { LiveParts } from './live-parts.tsx'
import { MessageView } from './message-view.tsx'
import { TurnEndView } from './turn-end-view.tsx'
import { openingOf, summarizeTurn, type TurnMessages } from './turns.ts'

type PastTurnProps = { readonly turn: TurnMessages }

/** A finished turn: drawn once, and not laid out while off screen. */
export const PastTurn = memo(function PastTurn({ turn }: PastTurnProps) {
  const { usage, fault } = summarizeTurn(turn.messages)
  const opening = openingOf(turn.messages)
  return (
    <section className="turn past">
      {turn.messages.map((message) => (
        <MessageView key={message.id} message={message} isOpening={message === opening} />
      ))}
      {fault && <p className="note bad">{fault.message}</p>}
      {usage && <p className="usage">{usageText(usage)}</p>}
    </section>
  )
})

type LastTurnProps = {
  readonly turn: TurnMessages | undefined
  readonly live: readonly LivePart[]
  readonly view: SessionView
  readonly isBusy: boolean
  readonly watching: string | null
  readonly onContinue: () => void
}

/** The last turn: streaming, or finished with its result. */
export function LastTurn({ turn, live, view, isBusy, watching, onContinue }: LastTurnProps) {
  const messages = turn?.messages ?? []
  const opening = openingOf(messages)
  const { usage, fault } = summarizeTurn(messages)
  const outputs = new Map(live.flatMap(({ kind, call, text }) => (kind === 'output' ? [[call, text] as const] : [])))
  const end = isBusy ? null : view.lastTurn
  return (
    <section className="turn" aria-busy={isBusy}>
      {messages.map((message) => (
        <MessageView
          key={message.id}
          message={message}
          isOpening={message === opening}
          liveOutput={outputs.get(message.kind === 'tool_call' ? message.call.id : undefined)}
        />
      ))}
      <LiveParts parts={live} />
      {isBusy && live.length === 0 && <Waiting view={view} />}
      {end && end.reason !== 'done' && (
        <TurnEndView reason={end.reason} fault={end.fault ?? fault} watching={watching} onContinue={onContinue} />
      )}
      {!isBusy && usage && <p className="usage">{usageText(usage)}</p>}
    </section>
  )
}

type WaitingProps = { readonly view: SessionView }

/** Shows activity while nothing streams yet. */
function Waiting({ view }: WaitingProps) {
  if (view.pendingApprovals.length > 0 || view.activeToolCalls.length > 0) return null // the cards show it
  return <p className="working waiting-word">Thinking</p>
}
