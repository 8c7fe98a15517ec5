import type { DatabaseSync } from 'node:sqlite'
import type { SearchRequest } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { facets } from './facets.ts'

type Row = Record<string, unknown>

/** The session that a record is shown as one of. */
export type Shown = { readonly sid: number; readonly session: SessionId; readonly workspace: string }

export type SearchScope = {
  /** The words of the index that what is in scope has one of, of each group. */
  readonly groups: readonly (readonly string[])[]
  /** As whose a record is shown; null when nobody who was asked for shows it. */
  shownAs(sid: number, seq: number): Shown | null
}

/**
 * Where a search looks, and as whose it shows what it finds: a record is its own session's, or, where that is gone or in
 * the trash, the eldest fork's that still shares it. Someone who asks for one session is shown all of its past.
 */
export function createSearchScope(database: DatabaseSync) {
  const columns = 'sid, id, workspace, parent, base, head, spoken, trashed_at, purged_at'
  const bySid = database.prepare(`select ${columns} from session where sid = ?`)
  const byId = database.prepare(`select ${columns} from session where id = ?`)
  const forks = database.prepare(`select ${columns} from session where parent = ? and base >= ?`)
  // The order of the tables is told: by itself it may walk through every session there is.
  const movedTo = database.prepare(`
    select distinct search_moved.workspace from search_moved cross join session using (sid) where session.workspace = ?`)
  // Few, and their words are where they were: whoever shares them may be elsewhere.
  const isShared = 'exists (select 1 from session child where child.parent = session.sid)'
  const hiddenParents = database.prepare(`
    select workspace from session
      where trashed_at is not null and purged_at is null and ${isShared}
    union select workspace from session where purged_at is not null and ${isShared}
    union select search_moved.workspace from search_moved cross join session using (sid)
      where trashed_at is not null or purged_at is not null`)

  /** The eldest of those who share a record of a session nobody finds. */
  function heirOf(sid: number, seq: number): Row | null {
    const heirs = forks
      .all(sid, seq)
      .flatMap((fork): readonly Row[] => {
        const heir = isFound(fork) ? fork : heirOf(Number(fork['sid']), seq)
        return heir === null ? [] : [heir]
      })
      .toSorted((left, right) => Number(left['sid']) - Number(right['sid']))
    return heirs[0] ?? null
  }

  function everywhere({ workspace }: SearchRequest): SearchScope {
    const known = new Map<number, { readonly row: Row | undefined; readonly shown: Shown | null }>()
    const lookUp = (sid: number) => {
      const row = bySid.get(sid)
      const found = { row, shown: row !== undefined && isFound(row) ? shownOf(row) : null }
      known.set(sid, found)
      return found
    }
    const words = workspace === undefined ? null : workspaceWords(workspace)
    return {
      groups: words === null ? [] : [words],
      shownAs(sid, seq) {
        const { row, shown: own } = known.get(sid) ?? lookUp(sid)
        const heir = own === null && row !== undefined ? heirOf(sid, seq) : null
        const shown = heir === null ? own : shownOf(heir)
        return shown !== null && (workspace === undefined || shown.workspace === workspace) ? shown : null
      },
    }
  }

  function workspaceWords(workspace: string): readonly string[] {
    const others = [...movedTo.all(workspace), ...hiddenParents.all()].map((row) => String(row['workspace']))
    return [...new Set([workspace, ...others])].map(facets.workspace)
  }

  function within(session: SessionId, workspace: string | undefined): SearchScope {
    const row = byId.get(session)
    if (row === undefined || !isFound(row)) return nothing
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
      groups: [[...upTo.keys()].map(facets.session)],
      shownAs: (sid, seq) => (seq <= (upTo.get(sid) ?? 0) ? shown : null),
    }
  }

  return (request: SearchRequest): SearchScope =>
    request.session === undefined ? everywhere(request) : within(request.session, request.workspace)
}

/** No words, so nothing can have one of them. */
const nothing: SearchScope = { groups: [[]], shownAs: () => null }

const isFound = (row: Row): boolean => row['spoken'] === 1 && row['trashed_at'] === null && row['purged_at'] === null

const shownOf = (row: Row): Shown => ({
  sid: Number(row['sid']),
  session: String(row['id']) as SessionId, // the column takes nothing else
  workspace: String(row['workspace']),
})
