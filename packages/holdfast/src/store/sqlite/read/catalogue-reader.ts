import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  decodeListCursor,
  encodeListCursor,
  type ListCursor,
  type ListRequest,
  type SessionLookup,
} from '@holdfast/core/ports'
import type { Meta, SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { orThrow } from '@holdfast/protocol/result'
import { createMetaMatch, hidesSubagents } from '../../list-match.ts'
import { numberOrNull, type Row, readEntry, textOrNull } from '../rows/columns.ts'
import type { ReadRequests, StoredListed } from '../rows/requests.ts'
import { isWaiting } from '../rows/schema.ts'

/** What the encoded `Meta` of a subagent has. In a text of it the quotes would be escaped. */
const subagentMark = '"subagent":{'
const isListed = 'spoken = 1 and trashed_at is null and purged_at is null'

const latestOfHalf = (pinned: 0 | 1): string => `
  select * from (
    select id, active_at, sid from session where workspace = ? and pinned = ${pinned} and ${isListed}
      and instr(meta, '${subagentMark}') = 0
    order by active_at desc, sid desc limit 1)`
export const latestStatement = `${latestOfHalf(1)} union all ${latestOfHalf(0)} order by 2 desc, 3 desc limit 1`

/** Finds sessions by their rows; no statement here reads a record. */
export function createCatalogueReader(database: DatabaseSync): Pick<ReadRequests, 'list' | 'find' | 'busy' | 'entry'> {
  const named = (where: string, rest = '') =>
    database.prepare(`select id from session where ${where} and purged_at is null ${rest}`)
  const byId = named('id = ?')
  const byPrefix = named('id >= ? and id < ?', `order by id limit ${limits.prefixMatchesMax}`)
  const byHandle = named('handle = ?')
  const byKey = named('key = ?')
  // The first row of each half of the list: a pinned session is not necessarily the latest.
  const latest = database.prepare(latestStatement)
  const busyRows = database.prepare('select id, owner from session where busy = 1 and trashed_at is null')
  const entryRow = database.prepare(`
    select meta, active_at, spoken, busy, head, base, owner, trashed_at from session where id = ? and purged_at is null`)

  function rowsFor(name: SessionLookup): readonly Row[] {
    switch (name.type) {
      case 'id':
        return byId.all(name.id)
      case 'prefix':
        return byPrefix.all(name.prefix, `${name.prefix}~`) // '~' sorts after every character of an id
      case 'handle':
        return byHandle.all(name.handle)
      case 'key':
        return byKey.all(name.key)
      case 'latest':
        return latest.all(name.workspace, name.workspace)
      default:
        return name satisfies never
    }
  }

  return {
    list: createListReader(database),
    find: (name) => rowsFor(name).map((row) => String(row['id']) as SessionId), // the column holds nothing else
    busy: () =>
      busyRows.all().map((row) => ({ session: String(row['id']) as SessionId, owner: textOrNull(row['owner']) })),
    entry(session) {
      const row = entryRow.get(session)
      if (row === undefined) return null
      return {
        entry: readEntry(row),
        head: Number(row['head']),
        base: Number(row['base']),
        owner: textOrNull(row['owner']),
        trashedAt: numberOrNull(row['trashed_at']),
      }
    },
  }
}

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
  waiting: `${columns}
    where ${isWaiting} and (pinned, active_at, sid) < (?, ?, ?) and ${isListed} and ${isOfModel}
    order by pinned desc, active_at desc, sid desc`,
} as const

/** Answers `list` from the session rows. */
function createListReader(database: DatabaseSync): ReadRequests['list'] {
  // Prepared on first use: a read-only store of an earlier version lacks a table.
  const prepared: Partial<Record<keyof typeof listStatements, StatementSync>> = {}
  const iterate = (name: keyof typeof listStatements, ...parameters: readonly (string | number)[]): Iterable<Row> => {
    prepared[name] ??= database.prepare(listStatements[name])
    return prepared[name].iterate(...parameters)
  }

  function* walk(request: ListRequest, { pinned, at, order }: ListCursor): Iterable<Row> {
    const { workspace, activeFrom = 0, runningAt, trashed, startedFor: parent } = request
    const model = request.model === undefined ? '' : `"model":${JSON.stringify(request.model)}`
    if (trashed === true) {
      const start = earlierOf({ at, order }, request.trashedBefore)
      if (parent === undefined) yield* iterate('inTrash', start.at, start.order, model)
      else yield* iterate('startedForInTrash', parent, start.at, start.order, model)
    } else if (parent !== undefined) {
      yield* iterate('startedFor', parent, pinned, at, order, model)
    } else if (runningAt !== undefined) {
      yield* iterate('running', JSON.stringify(runningAt), pinned, at, order, model)
    } else if (request.waiting) {
      yield* iterate('waiting', pinned, at, order, model)
    } else {
      for (const half of halvesFrom(request.pinned, pinned)) {
        const start = earlierOf(half === pinned ? { at, order } : { at: top, order: top }, request.activeBefore)
        if (workspace === undefined) yield* iterate('everywhere', half, activeFrom, start.at, start.order, model)
        else yield* iterate('inWorkspace', workspace, half, activeFrom, start.at, start.order, model)
      }
    }
  }

  return (request) => {
    const matches = createRowMatch(request)
    const rows = Iterator.from(walk(request, orThrow(decodeListCursor(request.cursor)))).filter(matches)
    const sessions = [...rows.take(request.limit + 1).map(toListed)]
    const next = sessions.length > request.limit ? (sessions[request.limit - 1]?.position ?? null) : null
    return { sessions: sessions.slice(0, request.limit), next: next === null ? null : encodeListCursor(next) }
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
  const isHiding = hidesSubagents(request)
  return (row) =>
    !(isHiding && String(row['meta']).includes(subagentMark)) &&
    (workspace === undefined || row['workspace'] === workspace) &&
    (pinned === undefined || (row['pinned'] === 1) === pinned) &&
    Number(row['active_at']) >= activeFrom &&
    Number(row['active_at']) < activeBefore &&
    (trashedBefore === undefined || (row['trashed_at'] !== null && Number(row['trashed_at']) < trashedBefore)) &&
    (runningAt === undefined || (row['busy'] === 1 && runningAt.includes(String(row['owner'])))) &&
    (matchesMeta === null || matchesMeta(JSON.parse(String(row['meta'])) as Meta)) // encoded from a Meta
}

function toListed(row: Row): StoredListed {
  const [trashedAt, order] = [numberOrNull(row['trashed_at']), Number(row['sid'])]
  const pinned = trashedAt === null && row['pinned'] === 1 ? 1 : 0
  const place = { pinned, at: trashedAt ?? Number(row['active_at']), order } as const
  return {
    meta: String(row['meta']),
    busy: row['busy'] === 1,
    owner: textOrNull(row['owner']),
    trashedAt,
    position: place,
  }
}
