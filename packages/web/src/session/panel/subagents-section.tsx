import type { ChildView } from '@holdfast/protocol'
import { treeBelow } from '../../list/session-tree.ts'
import { useSession } from '../state/session-context.ts'
import { ChildActions } from '../subagents/child-actions.tsx'
import { childLook, isAtWork, kindText } from '../subagents/child-text.ts'
import { useSubagents } from '../subagents/use-subagents.ts'
import { PanelSection } from './panel-section.tsx'

/** Lists the subagents of the session, each under the one that started it. */
export function SubagentsSection() {
  const { handle } = useSession()
  const { children } = useSubagents()
  if (children.length === 0) return null
  const running = children.filter(({ status }) => isAtWork(status)).length
  const about = running > 0 ? `${running} running` : `${children.length} ended`
  return (
    <PanelSection title="Subagents" part="subagents" about={about}>
      <ul className="subagents">
        {treeBelow(handle.id, children).map(({ node, level }) => (
          <li key={node.id} style={{ marginLeft: level * 14 }}>
            <SubagentRow child={node} />
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}

function SubagentRow({ child }: { readonly child: ChildView }) {
  const { id, agent, task, status, background, model } = child
  const { word, dot } = childLook(status)
  return (
    <>
      <div className="shell-head">
        <span className={`dot ${dot}`} aria-hidden="true" />
        <span className="child-task" title={task}>
          {task}
        </span>
        <span className="tool-status">{word}</span>
      </div>
      <p className="panel-about">
        {kindText(agent)} · {model}
      </p>
      <ChildActions view={child} isBackground={background === true} id={id} task={task} status={status} />
    </>
  )
}
