import { type ChildView, escapeLine, type SessionHandle } from '@holdfast/protocol'
import { type ReactNode, useEffect, useState } from 'react'
import { ApprovalCard } from '../approval/approval-card.tsx'
import { QuestionCard } from '../approval/question-card.tsx'
import { SessionContext, useSession } from '../state/session-context.ts'
import type { PageCommands } from '../state/use-commands.ts'
import { type Asked, askedKey } from './asked.ts'
import { kindText } from './child-text.ts'
import { useSubagents } from './use-subagents.ts'

type AskedCardProps = {
  readonly asked: readonly Asked[]
  /** The commands of the session that is followed: it passes an answer on to its subagent. */
  readonly commands: Pick<PageCommands, 'decide' | 'answer'>
}

/** Asks for the first approval that waits, marked with the subagent that asks for it. */
export function AskedCard({ asked: [first, ...others], commands }: AskedCardProps) {
  if (!first) return null
  const { approval, child } = first
  const { preview } = approval
  const key = askedKey(first)
  const common = { approval, waiting: others.length, ...(child && { mark: <AskerMark child={child} /> }) }
  if (preview.type === 'question')
    return (
      <QuestionCard
        key={key}
        {...common}
        question={preview}
        onAnswer={(decision, answers) => commands.answer(approval.id, decision, answers, child?.id)}
      />
    )
  const card = (
    <ApprovalCard
      key={key}
      {...common}
      onDecide={(decision, message) => commands.decide(approval.id, decision, message, child?.id)}
    />
  )
  if (!child || !preview.blob) return card
  return (
    <InChild key={key} child={child.id}>
      {card}
    </InChild>
  )
}

/** Says which subagent asks, and opens it. */
function AskerMark({ child: { id, agent, task } }: { readonly child: ChildView }) {
  const { opened, open } = useSubagents()
  return (
    <p className="approval-from">
      <span>
        The <b>{kindText(agent)}</b> asks: {escapeLine(task)}
      </span>
      {id !== opened && (
        <button type="button" className="small" onClick={() => open(id)}>
          Open
        </button>
      )}
    </p>
  )
}

type InChildProps = { readonly child: SessionHandle['id']; readonly children: ReactNode }

/** Draws something with the handle of a subagent, which keeps the whole of a shortened preview. */
function InChild({ child, children }: InChildProps) {
  const { handleOf } = useSubagents()
  const above = useSession()
  const [handle, setHandle] = useState<SessionHandle | null>(null)
  useEffect(() => {
    let isLeft = false
    handleOf(child).then((found) => {
      if (found.ok && !isLeft) setHandle(found.value)
    })
    return () => {
      isLeft = true
    }
  }, [handleOf, child])
  if (!handle) return <p className="nothing working">Loading</p>
  return <SessionContext value={{ ...above, handle }}>{children}</SessionContext>
}
