import type { RemoteSessions } from '@holdfast/client'
import { escapeLine, type Meta } from '@holdfast/protocol'
import { type DragEvent, useMemo, useRef, useState } from 'react'
import { useActions } from '../actions/actions.tsx'
import { ariaKeys, keyText } from '../keys/key-hint.tsx'
import { useKey } from '../keys/use-key.ts'
import { useIsLost, useShared } from '../screens/use-screens.ts'
import { Mark } from '../ui/elements.tsx'
import { hrefOf } from '../ui/route.ts'
import { useNow } from '../ui/use-now.ts'
import { ListBar } from './list-bar.tsx'
import { isInList, isNarrowed, type ListFilter, noFilter } from './list-filter.ts'
import { ListFoot } from './list-foot.tsx'
import { foundRows, type Grouping, type ListRow, rowsOf } from './list-rows.ts'
import { parentOf } from './related-sessions.ts'
import { RowList } from './row-list.tsx'
import { FoundRow, SessionRow, SubagentRow, SubagentsRow } from './session-row.tsx'
import { useFoundMessages } from './use-found-messages.ts'
import { useSessionKeys } from './use-session-keys.ts'
import type { SessionListState } from './use-session-list.ts'

type SessionListProps = {
  readonly sessions: RemoteSessions
  readonly list: SessionListState
  readonly filter: ListFilter
  readonly onFilter: (filter: ListFilter) => void
  readonly current: string | null
  /** The subagent that is open beside it. */
  readonly child: string | undefined
  /** Called when a session is chosen, to close the drawer. */
  readonly onLeave: () => void
}

const groupingKey = 'holdfast.grouping'

/** The sessions: search, filters, and all rows. Files that are dropped on it are imported. */
export function SessionList({ sessions, list, filter, onFilter, current, child, onLeave }: SessionListProps) {
  const nowMs = useNow()
  const isLost = useIsLost()
  const searchField = useRef<HTMLInputElement>(null)
  const [grouping, setGrouping] = useState<Grouping>(() =>
    localStorage.getItem(groupingKey) === 'workspace' ? 'workspace' : 'date',
  )
  const changeGrouping = (next: Grouping) => {
    localStorage.setItem(groupingKey, next)
    setGrouping(next)
  }
  const found = useFoundMessages(sessions, filter)
  const waiting = useShared(({ waiting }) => waiting)
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [isWhole, setWhole] = useState(false)
  const isSearch = filter.search.trim() !== ''
  const rows = useMemo(() => {
    if (isSearch) return foundRows(list.sessions, found.hits, { isWhole, isIndexing: found.isIndexing })
    const asked = [...waiting.values()].filter((meta) => isInList(meta, filter))
    const opened = openedOf(list.sessions, toggled, current, child)
    return rowsOf(list.sessions, { grouping, nowMs, opened, waiting: asked })
  }, [
    list.sessions,
    found.hits,
    found.isIndexing,
    isSearch,
    isWhole,
    waiting,
    filter,
    toggled,
    grouping,
    nowMs,
    current,
    child,
  ])
  useSessionKeys(rows, current, onLeave)
  useKey('search', () => searchField.current?.focus())

  const onToRows = (isChosen: boolean) => {
    const first = searchField.current?.closest('nav')?.querySelector<HTMLElement>('.sessions li :is(a, button)')
    if (isChosen) first?.click()
    else first?.focus()
  }
  const draw = (row: ListRow) => drawRow(row, { list, nowMs, current, child, filter, onLeave, setWhole, setToggled })
  const isEmpty =
    list.isLoaded && !list.fault && rows.length === 0 && (!isSearch || (found.hits !== null && !found.fault))
  return (
    <DropZone isOff={isLost}>
      <div className="sidebar-head">
        <a className="brand" href={hrefOf({ at: 'new' })} onClick={onLeave}>
          <Mark />
          Holdfast
        </a>
        <a
          className="button"
          href={hrefOf({ at: 'new' })}
          title={`New session${keyText('newSession')}`}
          aria-keyshortcuts={ariaKeys('newSession')}
          onClick={onLeave}
        >
          New session
        </a>
      </div>
      <ListBar
        filter={filter}
        onFilter={onFilter}
        grouping={grouping}
        searchField={searchField}
        onToRows={onToRows}
        onGrouping={changeGrouping}
        hasSessions={list.sessions.length > 0 || isNarrowed(filter) || isSearch}
      />
      {list.fault && (
        <p className="sidebar-note bad" role="status">
          {list.fault.code === 'unreachable' ? 'The server does not respond. Retrying…' : list.fault.message}
        </p>
      )}
      {isSearch && found.fault && !list.fault && (
        <p className="sidebar-note bad" role="status">
          Messages cannot be searched. {escapeLine(found.fault.message)}
        </p>
      )}
      {isEmpty && <EmptyNote filter={filter} onClear={() => onFilter(noFilter)} />}
      <RowList
        rows={rows}
        draw={draw}
        current={current}
        listKey={JSON.stringify([filter, grouping])}
        onEnd={isSearch && !isWhole ? found.loadMore : list.hasMore ? list.loadMore : nothing}
        onStart={list.hasEarlier ? list.loadEarlier : nothing}
      />
      <ListFoot />
    </DropZone>
  )
}

const nothing = () => undefined

/** Returns the sessions whose subagents are shown: that on screen, unless a person folded it, and those that were opened. */
function openedOf(
  sessions: readonly Meta[],
  toggled: ReadonlySet<string>,
  current: string | null,
  child: string | undefined,
): ReadonlySet<string> {
  const parents = sessions.filter(({ id }) => id === current || id === child).map(({ parent }) => parent)
  const here = [current, ...parents].filter((id) => id != null)
  return new Set([...toggled, ...here].filter((id) => toggled.has(id) !== here.includes(id)))
}

type DrawContext = Pick<SessionListProps, 'list' | 'current' | 'child' | 'filter' | 'onLeave'> & {
  readonly nowMs: number
  readonly setWhole: (isWhole: boolean) => void
  readonly setToggled: (change: (toggled: ReadonlySet<string>) => ReadonlySet<string>) => void
}

function drawRow(row: ListRow, context: DrawContext) {
  const { list, nowMs, current, child, filter, onLeave, setWhole, setToggled } = context
  switch (row.kind) {
    case 'heading':
      if (row.count === undefined)
        return (
          <h2 className="group-head" title={row.about}>
            {row.text}
          </h2>
        )
      return (
        <h2 className="group-head waits">
          <a href={hrefOf({ at: 'waiting' })} title="Answer all questions in one place" onClick={onLeave}>
            {row.text} <span className="count">{row.count}</span>
          </a>
        </h2>
      )
    case 'session': {
      const { meta, isWaiting } = row
      const parent = parentOf(meta, list.sessions)
      return (
        <SessionRow
          meta={meta}
          isWaiting={isWaiting}
          parent={parent}
          nowMs={nowMs}
          isCurrent={meta.id === current}
          onChoose={onLeave}
        />
      )
    }
    case 'subagents': {
      const { id } = row.group.meta
      const onToggle = () =>
        setToggled((toggled) => new Set(toggled.has(id) ? [...toggled].filter((one) => one !== id) : [...toggled, id]))
      return <SubagentsRow group={row.group} isOpen={row.isOpen} onToggle={onToggle} />
    }
    case 'subagent':
      return (
        <SubagentRow
          one={row.one}
          top={row.top}
          isCurrent={row.one.node.id === (child ?? current)}
          onChoose={onLeave}
        />
      )
    case 'found':
      return <FoundRow hit={row.hit} search={filter.search} nowMs={nowMs} onChoose={onLeave} />
    case 'more':
      return (
        <button type="button" className="quiet more" onClick={() => setWhole(true)}>
          Show {row.count} more{list.hasMore ? ' or more' : ''}
        </button>
      )
    case 'note':
      return <p className="sidebar-note">{row.text}</p>
  }
}

/** Says that nothing is listed, and what to do. */
function EmptyNote({ filter, onClear }: { readonly filter: ListFilter; readonly onClear: () => void }) {
  if (filter.search === '' && !isNarrowed(filter)) return <p className="sidebar-note">No sessions yet.</p>
  return (
    <p className="sidebar-note">
      {filter.isWaiting && filter.search === '' ? 'No session waits for you.' : 'No sessions found.'}{' '}
      {filter.search !== '' && (
        <button type="button" className="link" onClick={onClear}>
          Show all sessions
        </button>
      )}
    </p>
  )
}

/** The frame of the list. It imports the files that are dropped on it. */
function DropZone({ isOff, children }: { readonly isOff: boolean; readonly children: React.ReactNode }) {
  const { importFiles } = useActions()
  const [isOver, setOver] = useState(false)
  const hasFiles = (event: DragEvent) => !isOff && event.dataTransfer.types.includes('Files')
  return (
    <nav
      className={isOver ? 'sidebar dropping' : 'sidebar'}
      aria-label="Session list"
      onDragOver={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        event.stopPropagation()
        event.dataTransfer.dropEffect = 'copy'
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => {
        setOver(false)
        if (!hasFiles(event)) return
        event.preventDefault()
        event.stopPropagation()
        void importFiles([...event.dataTransfer.files])
      }}
    >
      {children}
      {isOver && <p className="drop-note">Drop to import sessions</p>}
    </nav>
  )
}
