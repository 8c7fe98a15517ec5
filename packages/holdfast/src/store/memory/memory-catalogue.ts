import type { ListRequest, SessionName } from '@holdfast/core/ports'
import { HoldfastError, limits, type SessionId, unreachable } from '@holdfast/protocol'
import {
  compareListPlaces,
  decodeListCursor,
  encodeListCursor,
  type ListCursor,
  type PlacedListed,
  type PlacedPage,
} from '../list-cursor.ts'
import { createMetaMatch } from '../list-match.ts'
import type { MemorySession } from './memory-session.ts'

/** What a list needs of a session that is held in memory, whichever store holds it. */
export type CatalogueRow = Pick<MemorySession, 'id' | 'order' | 'base' | 'entry' | 'owner' | 'trashedAt'>

export function listSessions(sessions: Iterable<CatalogueRow>, request: ListRequest): PlacedPage {
  const start = decodeListCursor(request.cursor)
  if (!start.ok) throw new HoldfastError(start.fault)
  const isAsked = createRowMatch(request)
  const first = createFirst(request.limit + 1)
  for (const held of sessions) {
    const place = placeOf(held)
    if (compareListPlaces(start.value, place) < 0 && isAsked(held)) first.add({ held, place })
  }
  const found = first.all()
  const page = found.slice(0, request.limit)
  const last = page.at(-1)
  const hasMore = found.length > page.length && last !== undefined
  return { sessions: page.map(listedOf), next: hasMore ? encodeListCursor(last.place) : null }
}

type Placed = { readonly held: CatalogueRow; readonly place: ListCursor }

const listedOf = ({ held, place }: Placed): PlacedListed => ({
  meta: structuredClone(held.entry.meta),
  busy: held.entry.busy,
  owner: held.owner,
  trashedAt: held.trashedAt,
  place,
})

function createRowMatch(request: ListRequest): (row: CatalogueRow) => boolean {
  const { workspace, pinned, startedFor, activeFrom, activeBefore, runningAt, trashed = false, trashedBefore } = request
  const matchesMeta = createMetaMatch(request) ?? (() => true)
  return ({ entry: { meta, spoken, busy, activeAt }, base, owner, trashedAt }) =>
    spoken &&
    (trashedAt !== null) === trashed &&
    (trashedBefore === undefined || (trashedAt !== null && trashedAt < trashedBefore)) &&
    (workspace === undefined || meta.workspace === workspace) &&
    (pinned === undefined || meta.pinned === pinned) &&
    (startedFor === undefined || (meta.parent === startedFor && base === 0)) &&
    (activeFrom === undefined || activeAt >= activeFrom) &&
    (activeBefore === undefined || activeAt < activeBefore) &&
    (runningAt === undefined || (busy && owner !== null && runningAt.includes(owner))) &&
    matchesMeta(meta)
}

/** The first few of many, in the order of the list: a page of a hundred thousand need not sort them all. */
function createFirst(count: number) {
  const first: Placed[] = []
  return {
    add(one: Placed): void {
      let [from, to] = [0, first.length]
      while (from < to) {
        const middle = (from + to) >> 1
        const there = first[middle]
        if (there !== undefined && compareListPlaces(there.place, one.place) < 0) from = middle + 1
        else to = middle
      }
      if (from === count) return
      first.splice(from, 0, one)
      if (first.length > count) first.pop()
    },
    all: (): readonly Placed[] => first,
  }
}

export function findSessions(sessions: readonly CatalogueRow[], name: SessionName): readonly SessionId[] {
  const idsOf = (found: readonly CatalogueRow[]) => found.map(({ id }) => id)
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
      return idsOf(latestIn(sessions, name.workspace))
    default:
      return unreachable(name)
  }
}

/** A pin keeps a session at the top of lists; it does not make it the one last spoken in. */
function latestIn(sessions: readonly CatalogueRow[], workspace: string): readonly CatalogueRow[] {
  const isAsked = createRowMatch({ workspace, limit: 1 })
  const latest = sessions
    .filter(isAsked)
    .reduce<CatalogueRow | null>(
      (best, one) =>
        best === null ||
        one.entry.activeAt > best.entry.activeAt ||
        (one.entry.activeAt === best.entry.activeAt && one.order > best.order)
          ? one
          : best,
      null,
    )
  return latest === null ? [] : [latest]
}

function placeOf({ entry, order, trashedAt }: CatalogueRow): ListCursor {
  if (trashedAt !== null) return { pinned: 0, at: trashedAt, order }
  return { pinned: entry.meta.pinned ? 1 : 0, at: entry.activeAt, order }
}
