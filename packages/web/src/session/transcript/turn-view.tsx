import {
  escapeHidden,
  escapeLine,
  type LivePart,
  type Message,
  type ModelFault,
  type SessionView,
  type TurnEnd,
} from '@holdfast/protocol'
import { useContext } from 'react'
import { CopyButton } from '../../code/copy-button.tsx'
import { Markdown } from '../../markdown/markdown.tsx'
import { useIsLost } from '../../screens/use-screens.ts'
import { tokensText, usageText } from '../../text/format.ts'
import { ShownOnlyContext, useSession } from '../state/session-context.ts'
import { TryAgain } from './edit-prompt.tsx'
import { MessageTime } from './message-time.tsx'
import { ThinkingBlock } from './message-view.tsx'
import { openingOf, summarizeTurn } from './turns.ts'

type TranscriptEndProps = {
  /** The loaded messages of the last turn. */
  readonly messages: readonly Message[]
  readonly live: readonly LivePart[]
  readonly view: SessionView
  readonly isBusy: boolean
  readonly watching: string | null
  readonly onContinue: () => void
}

/** The end of the transcript: what streams, or how the last turn ended. Always drawn. */
export function TranscriptEnd({ messages, live, view, isBusy, watching, onContinue }: TranscriptEndProps) {
  const { usage, fault } = summarizeTurn(messages)
  const end = isBusy ? null : view.lastTurn
  const at = messages.at(-1)?.at
  const opening = openingOf(messages)
  const answer = messages.findLast(({ kind }) => kind === 'assistant')
  const { takeBack } = useSession()
  const isShownOnly = useContext(ShownOnlyContext)
  const canTryAgain = !isShownOnly && takeBack && opening?.kind === 'user' && !opening.child
  return (
    <section className="turn" aria-busy={isBusy}>
      <LiveParts parts={live} />
      {isBusy && live.length === 0 && <Waiting view={view} />}
      {end && end.reason !== 'done' && (
        <TurnEndView reason={end.reason} fault={end.fault ?? fault} watching={watching} onContinue={onContinue} />
      )}
      {!isBusy && messages.length > 0 && (
        <div className="usage">
          {at !== undefined && <MessageTime at={at} />}
          {usage && <span>{usageText(usage)}</span>}
          {answer?.kind === 'assistant' && <CopyButton text={() => answer.text} label="Copy the last answer" />}
          {canTryAgain && <TryAgain prompt={opening} />}
        </div>
      )}
    </section>
  )
}

/** Shows activity while nothing streams yet. */
function Waiting({ view }: { readonly view: SessionView }) {
  const isLost = useIsLost()
  if (isLost) return null // whether it still works is unknown
  if (view.pendingApprovals.length > 0 || view.activeToolCalls.length > 0) return null // the cards show it
  // The model has the request; whether it thinks is known once it says so.
  return <p className="working waiting-word">{view.status === 'thinking' ? 'Waiting for the model' : 'Working'}</p>
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
          <Markdown text={part.text} isGrowing />
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
    <div className={reason === 'failed' ? 'turn-end bad' : 'turn-end'} role={reason === 'failed' ? 'alert' : undefined}>
      <p>{fault ? escapeHidden(fault.message) : words[reason]}</p>
      {!isShownOnly && (
        <button type="button" disabled={watching !== null} title={watching ?? undefined} onClick={onContinue}>
          Continue
        </button>
      )}
    </div>
  )
}
