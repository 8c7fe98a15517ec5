import { escapeLine, type Meta } from '@holdfast/protocol'
import { baseName, oneLine, relativeTime, statusText } from '../text/format.ts'
import { Mark } from '../ui/elements.tsx'
import { hrefOf } from '../ui/route.ts'
import { useNow } from '../ui/use-now.ts'
import { parentOf, type RelatedSession, titleOf } from './related-sessions.ts'
import { groupSessions } from './session-tree.ts'
import { SubagentRows } from './subagent-rows.tsx'
import type { SessionListState } from './use-session-list.ts'

type SessionListProps = {
  readonly list: SessionListState
  readonly search: string
  readonly onSearch: (search: string) => void
  readonly current: string | null
  /** The subagent that is open beside it. */
  readonly child: string | undefined
  /** Called when a session is chosen, to close the drawer. */
  readonly onLeave: () => void
}

export function SessionList({ list, search, onSearch, current, child, onLeave }: SessionListProps) {
  const nowMs = useNow()
  return (
    <nav className="sidebar" aria-label="Session list">
      <div className="sidebar-head">
        <a className="brand" href={hrefOf({ at: 'new' })} onClick={onLeave}>
          <Mark />
          Holdfast
        </a>
        <a className="button" href={hrefOf({ at: 'new' })} onClick={onLeave}>
          New session
        </a>
      </div>
      <input
        type="search"
        aria-label="Search sessions"
        placeholder="Search sessions"
        value={search}
        onChange={(event) => onSearch(event.target.value)}
      />
      {list.fault && (
        <p className="sidebar-note bad" role="status">
          {list.fault.code === 'unreachable' ? 'The server does not respond. Retrying…' : list.fault.message}
        </p>
      )}
      {list.isLoaded && !list.fault && list.sessions.length === 0 && (
        <p className="sidebar-note">{search === '' ? 'No sessions yet.' : 'No sessions found.'}</p>
      )}
      <ul className="sessions" aria-label="Sessions">
        {groupSessions(list.sessions).map(({ meta, below }) => (
          <li key={meta.id}>
            <SessionRow
              meta={meta}
              parent={parentOf(meta, list.sessions)}
              nowMs={nowMs}
              isWaiting={isAnyWaiting([meta, ...below.map(({ node }) => node)])}
              isCurrent={meta.id === current}
              onChoose={onLeave}
            />
            {below.length > 0 && <SubagentRows {...{ meta, below, current, child }} onChoose={onLeave} />}
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <button type="button" className="quiet more" onClick={list.showMore}>
          Show more
        </button>
      )}
    </nav>
  )
}

const isAnyWaiting = (sessions: readonly Meta[]): boolean => sessions.some(({ waiting }) => waiting !== undefined)

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

function SessionRow({ meta, parent, isWaiting, nowMs, isCurrent, onChoose }: SessionRowProps) {
  const status = isWaiting ? 'Waits for your approval' : statusText(meta.status)
  return (
    <div className="row-box">
      <a
        className="session-row"
        href={hrefOf({ at: 'session', name: meta.id })}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={onChoose}
      >
        <span className="row-top">
          <span className={`dot ${isWaiting ? 'asked' : meta.status}`} role="img" aria-label={status} title={status} />
          {meta.pinned && <PinMark />}
          <span className="row-title">{titleOf(meta)}</span>
          <time dateTime={meta.lastMessageAt}>{relativeTime(meta.lastMessageAt, nowMs)}</time>
        </span>
        <span className="row-bottom">
          <span title={meta.workspace}>{escapeLine(baseName(meta.workspace)) || 'no folder'}</span>
          <span className="row-preview">{oneLine(meta.recentText || meta.preview)}</span>
        </span>
      </a>
      {parent && (
        <a className="row-parent" href={hrefOf({ at: 'session', name: parent.id })} onClick={onChoose}>
          from {parent.title}
        </a>
      )}
    </div>
  )
}

/** Marks a pinned session. */
function PinMark() {
  return (
    <svg className="pin-mark" viewBox="0 0 16 16" role="img" aria-label="Pinned">
      <path d="M6 1.500h4l-.5 5 2.500 2.500H4l2.500-2.500zM8 9v5.500" />
    </svg>
  )
}
