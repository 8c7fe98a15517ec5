import type { CallView } from '@holdfast/protocol'
import { ChildActions } from '../subagents/child-actions.tsx'
import { childLook, kindText, statusOfChild } from '../subagents/child-text.ts'
import { useSubagents } from '../subagents/use-subagents.ts'
import { ToolCard, type ToolCardProps } from './tool-card.tsx'

type SubagentCardProps = Pick<ToolCardProps, 'message' | 'liveOutput'> & {
  readonly child: NonNullable<CallView['child']>
}

/** The card of a call that started a subagent. It shows the subagent, and opens it beside the session. */
export function SubagentCard({ message, liveOutput, child }: SubagentCardProps) {
  const { children } = useSubagents()
  const { session, agent, task, background } = child
  const view = children.find(({ id }) => id === session)
  const status = statusOfChild(child, view)
  return (
    <ToolCard
      message={message}
      liveOutput={liveOutput}
      look={{ name: kindText(agent), ...childLook(status) }}
      strip={<ChildActions id={session} isBackground={background === true} task={task} status={status} view={view} />}
    />
  )
}
