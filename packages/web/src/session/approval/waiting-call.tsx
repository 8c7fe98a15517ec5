import { type CallView, escapeLine, type SessionId } from '@holdfast/protocol'
import { callSummary } from '../../text/message-text.ts'
import { useSession } from '../state/session-context.ts'

/** The element of a question below the transcript. */
export const questionElementId = (session: SessionId, approval: number): string => `question-${session}-${approval}`

type WaitingCallProps = { readonly call: CallView; readonly elementId: string }

/** A call that waits for a person, in the transcript: one line. What will run is shown once, on the card that asks. */
export function WaitingCall({ call, elementId }: WaitingCallProps) {
  const { handle } = useSession()
  const { approval } = call
  const summary = callSummary(call)
  const status = 'needs approval'
  const show = () => {
    const question = approval && document.getElementById(questionElementId(handle.id, approval.id))
    question?.querySelector<HTMLElement>('.asked-line')?.click()
    question?.querySelector<HTMLElement>('.approval')?.focus()
  }
  return (
    <div id={elementId} className="tool asked" tabIndex={-1}>
      <button type="button" className="fold-head" title="Go to the question" onClick={show}>
        <span className="ask-mark" aria-hidden="true">
          ◆
        </span>
        <span className="tool-name">{escapeLine(call.tool)}</span>
        <code className="tool-summary">{summary}</code>
        <span className="tool-status">{status}</span>
      </button>
    </div>
  )
}
