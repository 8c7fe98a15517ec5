import { escapeLine, type Meta } from '@holdfast/protocol'
import { SessionItems, useRowKeys } from '../actions/session-items.tsx'
import { ariaKeys } from '../keys/key-hint.tsx'
import { useIsLost } from '../screens/use-screens.ts'
import { baseName, counted, isBusy, knownStatus, oneLine, relativeTime } from '../text/format.ts'
import { previewText } from '../text/message-text.ts'
import { Snippet } from '../text/snippet.tsx'
import { ContextMenu, Menu } from '../ui/menu.tsx'
import { hrefOf } from '../ui/route.ts'
import type { FoundMessage, ListRow } from './list-rows.ts'
import { type RelatedSession, titleOf } from './related-sessions.ts'
import type { SessionGroup } from './session-tree.ts'

type SessionRowProps = {
  readonly meta: Meta
  /** The parent session, if any. */
  readonly parent: RelatedSession | null
  /** It, or a subagent of it, waits for an approval. */
  readonly isWaiting: boolean
  readonly nowMs: number
  readonly isCurrent: boolean
  readonly onChoose: () => void
}

/** A session of the list. Its actions are in a menu: by the button, a right click, a long press or the menu key. */
export function SessionRow({ meta, parent, isWaiting, nowMs, isCurrent, onChoose }: SessionRowProps) {
  const onKey = useRowKeys()
  const isLost = useIsLost()
  const known = knownStatus(meta.status, isLost)
  const status = isWaiting ? waitsText : known.text
  const name = titleOf(meta)
  const row = (
    <div className={isWaiting ? 'row-box waits' : 'row-box'}>
      <a
        className="session-row"
        href={hrefOf({ at: 'session', name: meta.id })}
        aria-current={isCurrent ? 'page' : undefined}
        aria-keyshortcuts={ariaKeys('rowRename')}
        onClick={onChoose}
        onKeyDown={(event) => onKey(event, meta)}
      >
        <span className="row-top">
          <span className={`dot ${isWaiting ? 'asked' : known.dot}`} role="img" aria-label={status} title={status} />
          {meta.pinned && <PinMark />}
          <span className="row-title">{name}</span>
          {isWaiting && <span className="row-waits">waits</span>}
          {isBusy(known.dot) && !isWaiting && <span className="row-runs">running</span>}
          <time dateTime={meta.lastMessageAt}>{relativeTime(meta.lastMessageAt, nowMs)}</time>
        </span>
        <span className="row-bottom">
          <span title={escapeLine(meta.workspace)}>{escapeLine(baseName(meta.workspace)) || 'no folder'}</span>
          {parent && <span className="row-fork">{parent.title === name ? 'fork' : `fork of ${parent.title}`}</span>}
          <span className="row-preview">{previewText(meta)}</span>
        </span>
      </a>
      <Menu
        label={`Actions for ${name}`}
        align="end"
        trigger={
          <button type="button" className="quiet row-menu" aria-label={`Actions for ${name}`} tabIndex={-1}>
            ⋯
          </button>
        }
      >
        <SessionItems target={meta} hasKeys />
      </Menu>
    </div>
  )
  return (
    <ContextMenu target={row} label={`Actions for ${name}`}>
      <SessionItems target={meta} hasKeys />
    </ContextMenu>
  )
}

const waitsText = 'Waits for your approval'

/** Marks a pinned session. */
function PinMark() {
  return (
    <svg className="pin-mark" viewBox="0 0 16 16" role="img" aria-label="Pinned">
      <path d="M6 1.500h4l-.5 5 2.500 2.500H4l2.500-2.500zM8 9v5.500" />
    </svg>
  )
}

type SubagentsRowProps = {
  readonly group: SessionGroup
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** Shows or hides the subagents of a session. */
export function SubagentsRow({ group: { meta, below }, isOpen, onToggle }: SubagentsRowProps) {
  const waiting = below.filter(({ node }) => node.waiting !== undefined).length
  const isLost = useIsLost() // then its status is unknown
  const running = isLost ? 0 : below.filter(({ node }) => isBusy(node.status)).length - waiting
  const words = [running > 0 && `${running} running`, waiting > 0 && `${waiting} waiting`]
  const label = [counted(below.length, 'subagent'), ...words].filter((word) => word !== false).join(', ')
  return (
    <button
      type="button"
      className="row-subagents fold-head"
      aria-expanded={isOpen}
      aria-label={`${label} of ${titleOf(meta)}`}
      onClick={onToggle}
    >
      <svg className="chevron" viewBox="0 0 12 12" aria-hidden="true">
        <path d="M4.500 2.500 8 6l-3.500 3.500" />
      </svg>
      {label}
    </button>
  )
}

type SubagentRowProps = Pick<Extract<ListRow, { kind: 'subagent' }>, 'one' | 'top'> & {
  readonly isCurrent: boolean
  readonly onChoose: () => void
}

/** A subagent under its session. It opens beside it. */
export function SubagentRow({ one: { node, level }, top, isCurrent, onChoose }: SubagentRowProps) {
  const isWaiting = node.waiting !== undefined
  const known = knownStatus(node.status, useIsLost())
  const status = isWaiting ? waitsText : known.text
  return (
    <a
      className="subagent-row"
      style={{ paddingLeft: 26 + level * 12 }}
      href={hrefOf({ at: 'session', name: top, child: node.id })}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={onChoose}
    >
      <span className={`dot ${isWaiting ? 'asked' : known.dot}`} role="img" aria-label={status} title={status} />
      <span className="row-title">{titleOf(node)}</span>
      {node.subagent && node.subagent.agent !== 'general' && <span>{escapeLine(node.subagent.agent)}</span>}
    </a>
  )
}

const authors: Record<FoundMessage['kind'], string> = {
  user: 'You',
  assistant: 'Agent',
  tool: 'Tool',
  system: 'System',
}

type FoundRowProps = {
  readonly hit: FoundMessage
  readonly search: string
  readonly nowMs: number
  readonly onChoose: () => void
}

/** A message that was found. It opens the session at the message. */
export function FoundRow({ hit, search, nowMs, onChoose }: FoundRowProps) {
  return (
    <a
      className="found-row"
      href={hrefOf({ at: 'session', name: hit.sessionId, message: hit.messageId })}
      onClick={onChoose}
    >
      <span className="row-top">
        <span className="row-title">{escapeLine(hit.title) || 'New session'}</span>
        <time dateTime={hit.at}>{relativeTime(hit.at, nowMs)}</time>
      </span>
      <span className="found-text">
        <span className="found-author">{authors[hit.kind]}: </span>
        <Snippet text={oneLine(hit.snippet)} search={search} />
      </span>
    </a>
  )
}
