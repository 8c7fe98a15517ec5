import { type Decision, escapeLine, type Fault, type PendingApproval } from '@holdfast/protocol'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { useArmed } from '../../ui/use-armed.ts'
import { PreviewView } from './preview-view.tsx'
import { type Approval, approvals, approvalText, ruleToStore } from './trust-text.ts'

type ApprovalCardProps = {
  readonly approval: PendingApproval
  /** Says which subagent asks; absent for the session itself. */
  readonly mark?: ReactNode
  /** How many more approvals are pending. */
  readonly waiting: number
  readonly onDecide: (decision: Decision, message: string) => Promise<Fault | null>
}

const questions: Record<PendingApproval['preview']['type'], string> = {
  command: 'Run this command?',
  diff: 'Make this change?',
  arguments: 'Allow this call?',
  question: 'Answer this question?',
}

/** Asks for the approval of one call and shows exactly what will run. */
export function ApprovalCard({ approval, mark, waiting, onDecide }: ApprovalCardProps) {
  const [message, setMessage] = useState('')
  const [chosen, setChosen] = useState<Approval>('approve')
  const isArmed = useArmed(String(approval.id)) // the next card appears in the same place
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const card = useRef<HTMLElement>(null)
  const title = useId()

  useEffect(() => {
    // Never take the focus from a person who is writing.
    if (document.activeElement === document.body) card.current?.focus({ preventScroll: true })
  }, [])

  const decide = async (decision: Decision) => {
    setSending(true)
    setFault(await onDecide(decision, decision === 'reject' ? message.trim() : ''))
    setSending(false)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (message.trim() !== '') decide('reject') // Enter in the reason field
  }
  const isOff = !isArmed || isSending
  return (
    <section className="approval" ref={card} tabIndex={-1} aria-labelledby={title}>
      <div className="approval-head" role="alert">
        <h2 id={title}>{questions[approval.preview.type]}</h2>
        <code>{escapeLine(approval.tool)}</code>
        {waiting > 0 && <span className="approval-more">{waiting} more after this</span>}
      </div>
      {mark}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long diff scrolls, and must do so by keyboard too */}
      <section className="approval-body" aria-label="What will run" tabIndex={0}>
        {approval.changed && (
          <p className="preview-where">The file changed after you approved this. Here is the new change.</p>
        )}
        {approval.rewrittenBy !== undefined && (
          <p className="preview-where">
            The hook {escapeLine(approval.rewrittenBy)} changed what the model asked for. This is what will run.
          </p>
        )}
        {approval.reason !== undefined && <p className="preview-where">You are asked each time: {approval.reason}.</p>}
        <PreviewView preview={approval.preview} />
      </section>
      <FaultNote fault={fault} />
      {approval.reason === undefined && (
        <ApprovalScope approval={approval} isChild={mark !== undefined} chosen={chosen} onChoose={setChosen} />
      )}
      <form onSubmit={onSubmit}>
        <input
          aria-label="Reason for rejecting"
          placeholder="Reason, if you reject it (optional)"
          maxLength={10_000}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
        <button type="button" disabled={isOff} onClick={() => decide('reject')}>
          Reject
        </button>
        <button type="button" className="primary" disabled={isOff} onClick={() => decide(chosen)}>
          Approve
        </button>
      </form>
    </section>
  )
}

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
  return (
    <fieldset className="approval-scope" aria-label="Approve for" aria-describedby={text}>
      <div className="scopes">
        {approvals.map(({ decision, word }) => (
          <label key={decision}>
            <input
              type="radio"
              name={name}
              value={decision}
              checked={decision === chosen}
              onChange={() => onChoose(decision)}
            />
            {word}
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
