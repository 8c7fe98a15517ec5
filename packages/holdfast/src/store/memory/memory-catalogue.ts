import {
  compareListPlaces,
  decodeListCursor,
  encodeListCursor,
  type ListCursor,
  type Listed,
  type ListPage,
  type ListRequest,
  type SessionLookup,
} from '@holdfast/core/ports'
import { HoldfastError, limits, type SessionId, unreachable } from '@holdfast/protocol'
import { createMetaMatch, hidesSubagents } from '../list-match.ts'
import type { MemorySession } from './memory-session.ts'

/** The fields of a session that a list needs. The JSONL store uses it too. */
export type CatalogueRow = Pick<MemorySession, 'id' | 'order' | 'base' | 'entry' | 'owner' | 'trashedAt' | 'tenant'>

/** Returns one page of the list, without sorting all rows. */
export function listSessions(sessions: Iterable<CatalogueRow>, request: ListRequest): ListPage {
  const start = decodeListCursor(request.cursor)
  if (!start.ok) throw new HoldfastError(start.fault)
  const matches = createRowMatch(request)
  const first = createTopRows(request.limit + 1)
  for (const row of sessions) {
    const place = getListPosition(row)
    if (compareListPlaces(start.value, place) < 0 && matches(row)) first.add({ row, place })
  }
  const found = first.all()
  const page = found.slice(0, request.limit)
  const last = page.at(-1)
  const hasMore = found.length > page.length && last !== undefined
  return { sessions: page.map(toListed), next: hasMore ? encodeListCursor(last.place) : null }
}

type PlacedRow = { readonly row: CatalogueRow; readonly place: ListCursor }

const toListed = ({ row, place }: PlacedRow): Listed => ({
  meta: structuredClone(row.entry.meta),
  busy: row.entry.busy,
  owner: row.owner,
  trashedAt: row.trashedAt,
  position: place,
})

function createRowMatch(request: ListRequest): (row: CatalogueRow) => boolean {
  const { workspace, pinned, startedFor, activeFrom, activeBefore, runningAt, trashed = false, trashedBefore } = request
  const isOfTenant = createTenantMatch(request.tenant)
  const matchesMeta = createMetaMatch(request) ?? (() => true)
  const isHiding = hidesSubagents(request)
  return ({ entry: { meta, spoken, busy, activeAt }, base, owner, trashedAt, tenant }) =>
    spoken &&
    isOfTenant({ tenant }) &&
    !(isHiding && meta.subagent) &&
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

/** Collects the first `count` rows in list order, by binary insertion. */
function createTopRows(count: number) {
  const first: PlacedRow[] = []
  return {
    add(placed: PlacedRow): void {
      let [from, to] = [0, first.length]
      while (from < to) {
        const middle = (from + to) >> 1
        const other = first[middle]
        if (other !== undefined && compareListPlaces(other.place, placed.place) < 0) from = middle + 1
        else to = middle
      }
      if (from === count) return
      first.splice(from, 0, placed)
      if (first.length > count) first.pop()
    },
    all: (): readonly PlacedRow[] => first,
  }
}

type OfTenant = Pick<CatalogueRow, 'tenant'>

/** Without a tenant, all rows match. */
const createTenantMatch =
  (wanted: string | undefined) =>
  ({ tenant }: OfTenant): boolean =>
    wanted === undefined || tenant === wanted

/** Returns the ids of the sessions with this name; with a tenant, of its sessions only. */
export function findSessions(
  all: readonly CatalogueRow[],
  name: SessionLookup,
  tenant?: string | undefined,
): readonly SessionId[] {
  const sessions = tenant === undefined ? all : all.filter(createTenantMatch(tenant))
  const getIds = (found: readonly CatalogueRow[]) => found.map(({ id }) => id)
  switch (name.type) {
    case 'id':
      return getIds(sessions.filter(({ id }) => id === name.id))
    case 'prefix':
      return getIds(sessions.filter(({ id }) => id.startsWith(name.prefix)))
        .toSorted()
        .slice(0, limits.prefixMatchesMax)
    case 'handle':
      return getIds(sessions.filter(({ entry }) => entry.meta.handle === name.handle))
    case 'key':
      return getIds(sessions.filter((row) => row.entry.meta.key === name.key && row.tenant === tenant))
    case 'latest':
      return getIds(findLatest(sessions, name.workspace))
    default:
      return unreachable(name)
  }
}

/** Returns the most recently active session of a workspace. Pins do not count. */
function findLatest(sessions: readonly CatalogueRow[], workspace: string): readonly CatalogueRow[] {
  const matches = createRowMatch({ workspace, limit: 1 })
  const latest = sessions
    .filter(matches)
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

function getListPosition({ entry, order, trashedAt }: CatalogueRow): ListCursor {
  if (trashedAt !== null) return { pinned: 0, at: trashedAt, order }
  return { pinned: entry.meta.pinned ? 1 : 0, at: entry.activeAt, order }
}
