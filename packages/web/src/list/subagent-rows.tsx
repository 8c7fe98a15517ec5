import { escapeLine } from '@holdfast/protocol'
import { counted, isBusy, statusText } from '../text/format.ts'
import { Collapsible } from '../ui/collapsible.tsx'
import { hrefOf } from '../ui/route.ts'
import { titleOf } from './related-sessions.ts'
import type { InTree, SessionGroup } from './session-tree.ts'

type SubagentRowsProps = SessionGroup & {
  readonly current: string | null
  /** The subagent that is open beside its session. */
  readonly child: string | undefined
  readonly onChoose: () => void
}

/** Lists the subagents of a session under it. Open for the session on screen; each opens beside it. */
export function SubagentRows({ meta, below, current, child, onChoose }: SubagentRowsProps) {
  const isHere = meta.id === current || below.some(({ node }) => node.id === current)
  const waiting = below.filter(({ node }) => node.waiting !== undefined).length
  const running = below.filter(({ node }) => isBusy(node.status)).length - waiting
  const words = [running > 0 && `${running} running`, waiting > 0 && `${waiting} waiting`]
  const label = [counted(below.length, 'subagent'), ...words].filter((word) => word !== false).join(', ')
  return (
    <Collapsible
      className="row-subagents"
      label={`${label} of ${titleOf(meta)}`}
      isOpenAtFirst={isHere}
      head={<span>{label}</span>}
    >
      {() => (
        <ul aria-label={`Subagents of ${titleOf(meta)}`}>
          {below.map((one) => (
            <SubagentRow
              key={one.node.id}
              {...one}
              top={meta.id}
              isCurrent={one.node.id === (child ?? current)}
              onChoose={onChoose}
            />
          ))}
        </ul>
      )}
    </Collapsible>
  )
}

type SubagentRowProps = InTree<SessionGroup['meta']> & {
  readonly top: string
  readonly isCurrent: boolean
  readonly onChoose: () => void
}

function SubagentRow({ node, level, top, isCurrent, onChoose }: SubagentRowProps) {
  const isWaiting = node.waiting !== undefined
  const status = isWaiting ? 'Waits for your approval' : statusText(node.status)
  return (
    <li>
      <a
        className="subagent-row"
        style={{ paddingLeft: 10 + level * 12 }}
        href={hrefOf({ at: 'session', name: top, child: node.id })}
        aria-current={isCurrent ? 'true' : undefined}
        onClick={onChoose}
      >
        <span className={`dot ${isWaiting ? 'asked' : node.status}`} role="img" aria-label={status} title={status} />
        <span className="row-title">{titleOf(node)}</span>
        {node.subagent && node.subagent.agent !== 'general' && <span>{escapeLine(node.subagent.agent)}</span>}
      </a>
    </li>
  )
}
