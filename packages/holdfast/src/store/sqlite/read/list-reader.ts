import type { DatabaseSync } from 'node:sqlite'
import type { ListRequest } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { decodeListCursor, encodeListCursor, type ListCursor } from '../../list-cursor.ts'
import { createMetaMatch } from '../../list-match.ts'
import type { ReadAnswers, StoredListed } from '../rows/messages.ts'

type Row = Record<string, unknown>

export const isListed = 'spoken = 1 and trashed_at is null and purged_at is null'
/** As `Meta` is written: a rare model is looked for without fetching each row. An empty text is in every other. */
const isOfModel = 'instr(meta, ?) > 0'
const top = Number.MAX_SAFE_INTEGER
const columns = 'select sid, meta, busy, owner, workspace, pinned, active_at, trashed_at from session'

/** The statements of the list. Each `order by` is an index's own: a page costs its own rows, however many there are. */
export const listStatements = {
  // Pinned sessions and the others are two walks: within each, age is a range of the index.
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
  // Few are started for one session: they are found by it, and sorted.
  startedFor: `${columns} join started_for using (sid)
    where started_for.parent = ? and (pinned, active_at, sid) < (?, ?, ?) and ${isListed} and ${isOfModel}
    order by pinned desc, active_at desc, sid desc`,
  startedForInTrash: `${columns} join started_for using (sid)
    where started_for.parent = ? and trashed_at is not null and purged_at is null and spoken = 1
      and (trashed_at, sid) < (?, ?) and ${isOfModel}
    order by trashed_at desc, sid desc`,
  // Few are at work at once: they are found by their owners, and sorted.
  running: `${columns} indexed by session_busy
    where busy = 1 and owner in (select value from json_each(?)) and (pinned, active_at, sid) < (?, ?, ?) and ${isListed}
      and ${isOfModel}
    order by pinned desc, active_at desc, sid desc`,
} as const

/** Answers `list` by rows alone. */
export function createListReader(database: DatabaseSync) {
  const everywhere = database.prepare(listStatements.everywhere)
  const inWorkspace = database.prepare(listStatements.inWorkspace)
  const inTrash = database.prepare(listStatements.inTrash)
  const running = database.prepare(listStatements.running)
  // When it is asked for: a store of an earlier version that is only looked at does not know.
  const startedFor = lazy(() => database.prepare(listStatements.startedFor))
  const startedForInTrash = lazy(() => database.prepare(listStatements.startedForInTrash))

  function* walk(request: ListRequest, { pinned, at, order }: ListCursor): Iterable<Row> {
    const { workspace, activeFrom = 0, runningAt, trashed, startedFor: parent } = request
    const model = request.model === undefined ? '' : `"model":${JSON.stringify(request.model)}`
    if (trashed === true) {
      const start = sooner({ at, order }, request.trashedBefore)
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
    for (const half of halves(request.pinned, pinned)) {
      const start = sooner(half === pinned ? { at, order } : { at: top, order: top }, request.activeBefore)
      if (workspace === undefined) yield* everywhere.iterate(half, activeFrom, start.at, start.order, model)
      else yield* inWorkspace.iterate(workspace, half, activeFrom, start.at, start.order, model)
    }
  }

  return (request: ListRequest): Result<ReadAnswers['list']> => {
    const start = decodeListCursor(request.cursor)
    if (!start.ok) return start
    const isAsked = createRowMatch(request)
    const sessions: StoredListed[] = []
    for (const row of walk(request, start.value)) {
      if (!isAsked(row)) continue
      if (sessions.length === request.limit) {
        const last = sessions.at(-1)
        return ok({ sessions, next: last === undefined ? null : encodeListCursor(last.place) })
      }
      sessions.push(listedOf(row))
    }
    return ok({ sessions, next: null })
  }
}

function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The walks that are left from a place among the pinned ones, or behind them. */
function halves(asked: boolean | undefined, from: 0 | 1): readonly (0 | 1)[] {
  const all = ([1, 0] as const).filter((half) => half <= from)
  return asked === undefined ? all : all.filter((half) => (half === 1) === asked)
}

type Moment = { readonly at: number; readonly order: number }

/** No row is older than birth 1, so order 0 stands behind all that is of the moment itself. */
const sooner = (start: Moment, before: number | undefined): Moment =>
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
    (matchesMeta === null || matchesMeta(JSON.parse(String(row['meta'])) as Meta)) // written by us from a Meta
}

function listedOf(row: Row): StoredListed {
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
