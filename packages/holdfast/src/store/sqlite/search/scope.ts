import type { DatabaseSync } from 'node:sqlite'
import type { SearchRequest } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { Row } from '../rows/columns.ts'
import { filterTokens } from './indexed-event.ts'

/** The session that a record is shown in. */
export type ShownSession = { readonly sid: number; readonly session: SessionId; readonly workspace: string }

export type SearchScope = {
  /** Groups of tokens in the index; a record in scope has one token of each group. */
  readonly groups: readonly (readonly string[])[]
  /** Returns the session that shows a record, or null if it is out of scope. */
  shownAs(sid: number, seq: number): ShownSession | null
}

/** Decides where a search looks. A record is shown in its session or, if that is hidden, in the oldest fork. */
export function createSearchScope(database: DatabaseSync) {
  const columns = 'sid, id, workspace, parent, base, head, spoken, trashed_at, purged_at'
  const bySid = database.prepare(`select ${columns} from session where sid = ?`)
  const byId = database.prepare(`select ${columns} from session where id = ?`)
  const forks = database.prepare(`select ${columns} from session where parent = ? and base >= ?`)
  // Fixes the order of the tables: SQLite may otherwise walk through every session.
  const movedTo = database.prepare(`
    select distinct search_moved.workspace from search_moved cross join session using (sid) where session.workspace = ?`)
  // Hidden parents are few. Their words carry their own workspace; a fork that shares them may be in another.
  const isShared = 'exists (select 1 from session child where child.parent = session.sid)'
  const hiddenParents = database.prepare(`
    select workspace from session
      where trashed_at is not null and purged_at is null and ${isShared}
    union select workspace from session where purged_at is not null and ${isShared}
    union select search_moved.workspace from search_moved cross join session using (sid)
      where trashed_at is not null or purged_at is not null`)

  /** Returns the oldest fork that shares a record of a hidden session. */
  function findHeir(sid: number, seq: number): Row | null {
    const heirs = forks
      .all(sid, seq)
      .flatMap((fork): readonly Row[] => {
        const heir = isVisible(fork) ? fork : findHeir(Number(fork['sid']), seq)
        return heir === null ? [] : [heir]
      })
      .toSorted((left, right) => Number(left['sid']) - Number(right['sid']))
    return heirs[0] ?? null
  }

  function everywhere({ workspace }: SearchRequest): SearchScope {
    const known = new Map<number, { readonly row: Row | undefined; readonly shown: ShownSession | null }>()
    const lookUp = (sid: number) => {
      const row = bySid.get(sid)
      const found = { row, shown: row !== undefined && isVisible(row) ? shownOf(row) : null }
      known.set(sid, found)
      return found
    }
    const tokens = workspace === undefined ? null : workspaceTokens(workspace)
    return {
      groups: tokens === null ? [] : [tokens],
      shownAs(sid, seq) {
        const { row, shown: own } = known.get(sid) ?? lookUp(sid)
        const heir = own === null && row !== undefined ? findHeir(sid, seq) : null
        const shown = heir === null ? own : shownOf(heir)
        return shown !== null && (workspace === undefined || shown.workspace === workspace) ? shown : null
      },
    }
  }

  function workspaceTokens(workspace: string): readonly string[] {
    const others = [...movedTo.all(workspace), ...hiddenParents.all()].map((row) => String(row['workspace']))
    return [...new Set([workspace, ...others])].map(filterTokens.workspace)
  }

  function within(session: SessionId, workspace: string | undefined): SearchScope {
    const row = byId.get(session)
    if (row === undefined || !isVisible(row)) return nothing
    const shown = shownOf(row)
    if (workspace !== undefined && workspace !== shown.workspace) return nothing
    const upTo = new Map<number, number>()
    let last = Number(row['head'])
    for (let holder: Row | undefined = row; holder !== undefined; ) {
      upTo.set(Number(holder['sid']), last)
      last = Math.min(last, Number(holder['base']))
      holder = holder['parent'] === null ? undefined : bySid.get(Number(holder['parent']))
    }
    return {
      groups: [[...upTo.keys()].map(filterTokens.session)],
      shownAs: (sid, seq) => (seq <= (upTo.get(sid) ?? 0) ? shown : null),
    }
  }

  return (request: SearchRequest): SearchScope =>
    request.session === undefined ? everywhere(request) : within(request.session, request.workspace)
}

/** An empty group, which no record matches. */
const nothing: SearchScope = { groups: [[]], shownAs: () => null }

const isVisible = (row: Row): boolean => row['spoken'] === 1 && row['trashed_at'] === null && row['purged_at'] === null

const shownOf = (row: Row): ShownSession => ({
  sid: Number(row['sid']),
  session: String(row['id']) as SessionId, // the column holds nothing else
  workspace: String(row['workspace']),
})
