import {
  askText,
  type Decision,
  escapeLine,
  type Fault,
  type PendingApproval,
  type SessionHandle,
} from '@holdfast/protocol'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { keyText } from '../../keys/key-hint.tsx'
import { useOwnsServer } from '../../models/server-context.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { Key } from '../../ui/key.tsx'
import { useArmed } from '../../ui/use-armed.ts'
import { isAtCards, isFocusFree, keyOf, lendFocus, noteAnswer, useAnswerKeys } from './approval-keys.ts'
import { PreviewView } from './preview-view.tsx'
import { askedSummary, questionOf } from './question-text.ts'
import { type Approval, approvals, approvalText, ruleToStore } from './trust-text.ts'

type ApprovalCardProps = {
  readonly approval: PendingApproval
  readonly handle: SessionHandle
  /** Says which subagent asks; absent for the session itself. */
  readonly mark?: ReactNode
  /** Its place among those that wait, from 1; absent if it is alone. */
  readonly place?: Place | undefined
  readonly onDecide: (decision: Decision, message: string) => Promise<Fault | null>
}

export type Place = { readonly at: number; readonly of: number }

/** Asks for the approval of one call and shows exactly what will run. */
export function ApprovalCard({ approval, handle, mark, place, onDecide }: ApprovalCardProps) {
  const [message, setMessage] = useState('')
  const [chosen, setChosen] = useState<Approval>('approve')
  const isArmed = useArmed(String(approval.id)) // the next card appears in the same place
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const card = useRef<HTMLElement>(null)
  /** It took the focus by itself. A letter may then be meant for another place: none may reach beyond this call. */
  const hasTakenFocus = useRef(false)
  const title = useId()

  useEffect(() => {
    // Never take the focus from a person who is writing.
    if (!isFocusFree()) return
    hasTakenFocus.current = !isAtCards()
    card.current?.focus({ preventScroll: true })
  }, [])

  const hadFocus = useRef(false)
  useEffect(
    () => () => {
      if (hadFocus.current) setTimeout(lendFocus) // after the next card, if there is one, is drawn
    },
    [],
  )
  const decide = async (decision: Decision) => {
    noteAnswer()
    hadFocus.current = card.current?.contains(document.activeElement) ?? false
    setSending(true)
    setFault(await onDecide(decision, decision === 'reject' ? message.trim() : ''))
    setSending(false)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (message.trim() !== '') decide('reject') // Enter in the reason field
  }
  const isOff = !isArmed || isSending
  const mayAlways = useOwnsServer() !== false // it stores a rule of the server
  const isAskedEachTime = approval.reason !== undefined // then the answer covers this call only
  const onKeyDown = useAnswerKeys(card, (decision) => {
    const isWide = decision !== 'approve' && decision !== 'reject'
    if (decision === 'approve_always' && !mayAlways) return false
    if (isOff || (isWide && (isAskedEachTime || hasTakenFocus.current))) return false
    void decide(decision)
    return true
  })
  return (
    <section
      className="approval"
      ref={card}
      tabIndex={-1}
      aria-labelledby={title}
      onKeyDown={onKeyDown}
      onPointerDown={() => {
        hasTakenFocus.current = false
      }}
      onBlur={() => {
        hasTakenFocus.current = false
      }}
    >
      <ApprovalHead id={title} title={questionOf(approval)} tool={approval.tool} place={place} />
      {mark}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long diff scrolls, and must do so by keyboard too */}
      <section className="approval-body" aria-label={`What will run: ${askedSummary(approval)}`} tabIndex={0}>
        {approval.changed && (
          <p className="preview-where">The file changed after you approved this. Here is the new change.</p>
        )}
        {approval.rewrittenBy !== undefined && (
          <p className="preview-where">
            The hook {escapeLine(approval.rewrittenBy)} changed what the model asked for. This is what will run.
          </p>
        )}
        <PreviewView preview={approval.preview} handle={handle} />
        <ApprovalRule approval={approval} />
      </section>
      <FaultNote fault={fault} />
      {!isAskedEachTime && (
        <ApprovalScope approval={approval} isChild={mark !== undefined} chosen={chosen} onChoose={setChosen} />
      )}
      <form onSubmit={onSubmit}>
        <input
          aria-label="Reason for rejecting"
          placeholder="Reason, if you reject it (optional)"
          maxLength={10_000}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || event.nativeEvent.isComposing) return
            event.preventDefault() // it leaves the field, and stops no turn
            card.current?.focus()
          }}
        />
        <button
          type="button"
          title={`${keyOf('reject')} on this card, or from anywhere${keyText('rejectFirst')}`}
          disabled={isOff}
          onClick={() => decide('reject')}
        >
          Reject <Key name="n" />
        </button>
        <button
          type="button"
          className="primary"
          title={`${keyOf(chosen)} on this card, or once from anywhere${keyText('approveFirst')}`}
          disabled={isOff}
          onClick={() => decide(chosen)}
        >
          Approve <Key name={keyOf(chosen)} />
        </button>
      </form>
    </section>
  )
}

/** Says which rule made it ask; nothing if none did, which is the usual case. */
function ApprovalRule({ approval }: { readonly approval: PendingApproval }) {
  const why = askText(approval)
  return why === null ? null : <p className="approval-rule">Why you are asked: {escapeLine(why)}.</p>
}

type ApprovalHeadProps = {
  readonly id: string
  readonly title: string
  readonly tool: string
  readonly place: Place | undefined
}

/** The question, the tool, and which of several it is. */
export const ApprovalHead = ({ id, title, tool, place }: ApprovalHeadProps) => (
  <div className="approval-head">
    <span className="ask-mark" aria-hidden="true">
      ◆
    </span>
    <h2 id={id}>{title}</h2>
    <code>{escapeLine(tool)}</code>
    {place && (
      <span className="approval-more">
        {place.at} of {place.of}
      </span>
    )}
  </div>
)

type ApprovalScopeProps = {
  readonly approval: PendingApproval
  /** A subagent asks. */
  readonly isChild: boolean
  readonly chosen: Approval
  readonly onChoose: (decision: Approval) => void
}

/** Chooses how far an approval reaches, and says what it allows. */
function ApprovalScope({ approval: { tool, preview }, isChild, chosen, onChoose }: ApprovalScopeProps) {
  const name = useId()
  const text = useId()
  const rule = chosen === 'approve_always' ? ruleToStore(tool, preview) : null
  const mayAlways = useOwnsServer() !== false // it stores a rule of the server
  return (
    <fieldset className="approval-scope" aria-label="Approve for" aria-describedby={text}>
      <div className="scopes">
        {approvals
          .filter(({ decision }) => mayAlways || decision !== 'approve_always')
          .map(({ decision, word }) => (
            <label key={decision}>
              <input
                type="radio"
                name={name}
                value={decision}
                checked={decision === chosen}
                onChange={() => onChoose(decision)}
              />
              {word} <Key name={keyOf(decision)} />
            </label>
          ))}
      </div>
      <p id={text} aria-live="polite">
        {approvalText(chosen, tool, isChild)}
        {rule !== null && (
          <>
            {' '}
            Stores the rule <code>{rule}</code>, which the panel lists.
          </>
        )}
      </p>
    </fieldset>
  )
}
