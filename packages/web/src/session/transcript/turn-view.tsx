import {
  escapeHidden,
  escapeLine,
  type LivePart,
  type ModelFault,
  type SessionView,
  type TurnEnd,
} from '@holdfast/protocol'
import { memo, useContext } from 'react'
import { Markdown } from '../../markdown/markdown.tsx'
import { tokensText, usageText } from '../../text/format.ts'
import { ShownOnlyContext } from '../state/session-context.ts'
import { MessageView, ThinkingBlock } from './message-view.tsx'
import { openingOf, summarizeTurn, type TurnMessages } from './turns.ts'

/** A finished turn: drawn once, and not laid out while off screen. */
export const PastTurn = memo(function PastTurn({ turn }: { readonly turn: TurnMessages }) {
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

/** Shows activity while nothing streams yet. */
function Waiting({ view }: { readonly view: SessionView }) {
  if (view.pendingApprovals.length > 0 || view.activeToolCalls.length > 0) return null // the cards show it
  return <p className="working waiting-word">Thinking</p>
}

/** Shows streaming parts. The output of a running call is shown in its card. */
function LiveParts({ parts }: { readonly parts: readonly LivePart[] }) {
  return parts.map((part) => (
    <LivePartView key={`${part.step}.${part.part}.${part.kind}`} part={part} isLast={part === parts.at(-1)} />
  ))
}

function LivePartView({ part, isLast }: { readonly part: LivePart; readonly isLast: boolean }) {
  switch (part.kind) {
    case 'thinking':
      return <ThinkingBlock text={part.text} isLive={isLast} />
    case 'text':
      return (
        <article className={isLast ? 'assistant prose streaming' : 'assistant prose'} aria-label="Assistant">
          <Markdown text={part.text} />
        </article>
      )
    case 'input':
      return (
        <p className="preparing working">
          Preparing {escapeLine(part.tool ?? 'a call')}
          {part.text.length > 200 && `, ${tokensText(part.text.length)} characters`}
        </p>
      )
    case 'output':
      return null
  }
}

type TurnEndProps = {
  readonly reason: Exclude<TurnEnd, 'done'>
  readonly fault: ModelFault | null
  /** Why this page may not continue it, or null. */
  readonly watching: string | null
  readonly onContinue: () => void
}

const words: Record<TurnEndProps['reason'], string> = {
  aborted: 'Stopped. Everything so far is saved.',
  failed: 'The model could not answer.',
  interrupted: 'Interrupted: the server stopped during this turn. Nothing was restarted.',
  limit: 'This turn stopped at a limit; the notice above says which.',
}

/** Says why a turn ended early, and offers to continue it. */
function TurnEndView({ reason, fault, watching, onContinue }: TurnEndProps) {
  const isShownOnly = useContext(ShownOnlyContext)
  return (
    <div className={reason === 'failed' ? 'turn-end bad' : 'turn-end'} role="status">
      <p>{fault ? escapeHidden(fault.message) : words[reason]}</p>
      {!isShownOnly && (
        <button type="button" disabled={watching !== null} title={watching ?? undefined} onClick={onContinue}>
          Continue
        </button>
      )}
    </div>
  )
}
