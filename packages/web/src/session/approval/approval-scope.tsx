import { useId } from 'react'
import { type Approval, approvals, approvalText } from './trust-text.ts'

type ApprovalScopeProps = {
  readonly tool: string
  readonly chosen: Approval
  readonly onChoose: (decision: Approval) => void
}

/** Chooses how far an approval reaches, and says what it allows. */
export function ApprovalScope({ tool, chosen, onChoose }: ApprovalScopeProps) {
  const name = useId()
  const text = useId()
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
        {approvalText(chosen, tool)}
      </p>
    </fieldset>
  )
}
