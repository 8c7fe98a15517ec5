import type { ListRequest, SessionName } from '@holdfast/core/ports'
import { HoldfastError, limits, type SessionId, unreachable } from '@holdfast/protocol'
import { decodeListCursor, encodeListCursor, type PlacedPage } from '../list-cursor.ts'
import { createSearchMatch } from '../search-match.ts'
import type { MemorySession } from './memory-session.ts'

/** What a list needs of a session that is held in memory, whichever store holds it. */
export type HeldRow = Pick<MemorySession, 'id' | 'order' | 'entry' | 'owner'>

export function listSessions(sessions: readonly HeldRow[], request: ListRequest): PlacedPage {
  const start = decodeListCursor(request.cursor)
  if (!start.ok) throw new HoldfastError(start.fault)
  const { activeAt, order } = start.value
  const matches = createSearchMatch(request.search)
  const rest = spokenNewestFirst(sessions).filter(
    ({ entry, order: own }) =>
      (request.workspace === undefined || entry.meta.workspace === request.workspace) &&
      (entry.activeAt < activeAt || (entry.activeAt === activeAt && own < order)) &&
      matches(entry.meta),
  )
  const page = rest.slice(0, request.limit)
  const last = page.at(-1)
  const hasMore = rest.length > page.length && last !== undefined
  return {
    sessions: page.map((held) => ({
      meta: structuredClone(held.entry.meta),
      busy: held.entry.busy,
      owner: held.owner,
      place: placeOf(held),
    })),
    next: hasMore ? encodeListCursor(placeOf(last)) : null,
  }
}

export function findSessions(sessions: readonly HeldRow[], name: SessionName): readonly SessionId[] {
  const idsOf = (found: readonly HeldRow[]) => found.map(({ id }) => id)
  switch (name.type) {
    case 'id':
      return idsOf(sessions.filter(({ id }) => id === name.id))
    case 'prefix':
      return idsOf(sessions.filter(({ id }) => id.startsWith(name.prefix)))
        .toSorted()
        .slice(0, limits.prefixMatchesMax)
    case 'handle':
      return idsOf(sessions.filter(({ entry }) => entry.meta.handle === name.handle))
    case 'key':
      return idsOf(sessions.filter(({ entry }) => entry.meta.key === name.key))
    case 'latest':
      return idsOf(
        spokenNewestFirst(sessions)
          .filter(({ entry }) => entry.meta.workspace === name.workspace)
          .slice(0, 1),
      )
    default:
      return unreachable(name)
  }
}

const placeOf = ({ entry, order }: HeldRow) => ({ activeAt: entry.activeAt, order })

const spokenNewestFirst = (sessions: readonly HeldRow[]): readonly HeldRow[] =>
  sessions
    .filter(({ entry }) => entry.spoken)
    .toSorted((left, right) => right.entry.activeAt - left.entry.activeAt || right.order - left.order)
