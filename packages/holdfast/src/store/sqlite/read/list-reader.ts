import type { DatabaseSync } from 'node:sqlite'
import { decodeListCursor, encodeListCursor, type ListCursor, type ListRequest } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import { orThrow } from '@holdfast/protocol/result'
import { createMetaMatch } from '../../list-match.ts'
import type { Questions, StoredListed } from '../rows/messages.ts'

type Row = Record<string, unknown>

export const isListed = 'spoken = 1 and trashed_at is null and purged_at is null'
/** Matches the text of the encoded `Meta`: a rare model is found without fetching each row. Empty text matches all. */
const isOfModel = 'instr(meta, ?) > 0'
const top = Number.MAX_SAFE_INTEGER
const columns = 'select sid, meta, busy, owner, workspace, pinned, active_at, trashed_at from session'

/** The statements of the list. Each `order by` follows an index, so a page reads only its own rows. */
export const listStatements = {
  // Pinned sessions and the others are read separately: in each, activity is a range of the index.
  everywhere: `${columns}
    where pinned = ? and active_at >= ? and (active_at, sid) < (?, ?) and ${isListed} and ${isOfModel}
    order by active_at desc, sid desc`,
  inWorkspace: `${columns}
    where workspace = ? and pinned = ? and active_at >= ? and (active_at, sid) < (?, ?) and ${isListed}
      and ${isOfModel}
    order by active_at desc, sid desc`,
  inTrash: `${columns}
    where trashed_at is not null and purged_at is null and spoken = 1 and (trashed_at, sid) < (?, ?) and ${isOfModel}
    order by trashed_at desc, sid desc`,
  // One session starts only a few others: they are found by their parent, then sorted.
  startedFor: `${columns} join started_for using (sid)
    where started_for.parent = ? and (pinned, active_at, sid) < (?, ?, ?) and ${isListed} and ${isOfModel}
    order by pinned desc, active_at desc, sid desc`,
  startedForInTrash: `${columns} join started_for using (sid)
    where started_for.parent = ? and trashed_at is not null and purged_at is null and spoken = 1
      and (trashed_at, sid) < (?, ?) and ${isOfModel}
    order by trashed_at desc, sid desc`,
  // Only a few sessions are busy at once: they are found by owner, then sorted.
  running: `${columns} indexed by session_busy
    where busy = 1 and owner in (select value from json_each(?)) and (pinned, active_at, sid) < (?, ?, ?) and ${isListed}
      and ${isOfModel}
    order by pinned desc, active_at desc, sid desc`,
} as const

/** Answers `list` from the session rows. */
export function createListReader(database: DatabaseSync): Questions['list'] {
  const everywhere = database.prepare(listStatements.everywhere)
  const inWorkspace = database.prepare(listStatements.inWorkspace)
  const inTrash = database.prepare(listStatements.inTrash)
  const running = database.prepare(listStatements.running)
  // Prepared on first use: a read-only store of an earlier version lacks the table.
  const startedFor = lazy(() => database.prepare(listStatements.startedFor))
  const startedForInTrash = lazy(() => database.prepare(listStatements.startedForInTrash))

  function* walk(request: ListRequest, { pinned, at, order }: ListCursor): Iterable<Row> {
    const { workspace, activeFrom = 0, runningAt, trashed, startedFor: parent } = request
    const model = request.model === undefined ? '' : `"model":${JSON.stringify(request.model)}`
    if (trashed === true) {
      const start = earlierOf({ at, order }, request.trashedBefore)
      if (parent === undefined) yield* inTrash.iterate(start.at, start.order, model)
      else yield* startedForInTrash().iterate(parent, start.at, start.order, model)
      return
    }
    if (parent !== undefined) {
      yield* startedFor().iterate(parent, pinned, at, order, model)
      return
    }
    if (runningAt !== undefined) {
      yield* running.iterate(JSON.stringify(runningAt), pinned, at, order, model)
      return
    }
    for (const half of halvesFrom(request.pinned, pinned)) {
      const start = earlierOf(half === pinned ? { at, order } : { at: top, order: top }, request.activeBefore)
      if (workspace === undefined) yield* everywhere.iterate(half, activeFrom, start.at, start.order, model)
      else yield* inWorkspace.iterate(workspace, half, activeFrom, start.at, start.order, model)
    }
  }

  return (request) => {
    const start = orThrow(decodeListCursor(request.cursor))
    const matches = createRowMatch(request)
    const sessions: StoredListed[] = []
    for (const row of walk(request, start)) {
      if (!matches(row)) continue
      if (sessions.length === request.limit) {
        const last = sessions.at(-1)
        return { sessions, next: last === undefined ? null : encodeListCursor(last.place) }
      }
      sessions.push(toListed(row))
    }
    return { sessions, next: null }
  }
}

function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Returns the halves of the list that remain from the cursor on: pinned sessions first, then the others. */
function halvesFrom(wanted: boolean | undefined, from: 0 | 1): readonly (0 | 1)[] {
  const all = ([1, 0] as const).filter((half) => half <= from)
  return wanted === undefined ? all : all.filter((half) => (half === 1) === wanted)
}

type Moment = { readonly at: number; readonly order: number }

/** Returns the earlier of the two moments. Orders begin at 1, so order 0 comes after all rows of the same moment. */
const earlierOf = (start: Moment, before: number | undefined): Moment =>
  before === undefined || start.at < before ? start : { at: before, order: 0 }

function createRowMatch(request: ListRequest): (row: Row) => boolean {
  const { workspace, pinned, activeFrom = 0, activeBefore = top, runningAt, trashedBefore } = request
  const matchesMeta = createMetaMatch(request)
  return (row) =>
    (workspace === undefined || row['workspace'] === workspace) &&
    (pinned === undefined || (row['pinned'] === 1) === pinned) &&
    Number(row['active_at']) >= activeFrom &&
    Number(row['active_at']) < activeBefore &&
    (trashedBefore === undefined || (row['trashed_at'] !== null && Number(row['trashed_at']) < trashedBefore)) &&
    (runningAt === undefined || (row['busy'] === 1 && runningAt.includes(String(row['owner'])))) &&
    (matchesMeta === null || matchesMeta(JSON.parse(String(row['meta'])) as Meta)) // encoded from a Meta
}

function toListed(row: Row): StoredListed {
  const [trashedAt, order] = [row['trashed_at'], Number(row['sid'])]
  return {
    meta: String(row['meta']),
    busy: row['busy'] === 1,
    owner: row['owner'] === null ? null : String(row['owner']),
    trashedAt: trashedAt === null ? null : Number(trashedAt),
    place:
      trashedAt === null
        ? { pinned: row['pinned'] === 1 ? 1 : 0, at: Number(row['active_at']), order }
        : { pinned: 0, at: Number(trashedAt), order },
  }
}
