import type { DatabaseSync } from 'node:sqlite'
import type { CatalogueEntry, Draft, StoredSnapshot } from '@holdfast/core/ports'
import type { BlobHash, Meta, SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, orThrow, type Result } from '@holdfast/protocol/result'
import type { KeptSession, ReadOnlyStore, TypeCount, WorkspaceTrust } from '../read-only-store.ts'
import { snapshotChecksum } from '../snapshot-checksum.ts'
import { faultOf } from '../storage-fault.ts'
import { noteBeside } from './damage/note-beside.ts'
import { createDamagedReader } from './damage/salvage-reader.ts'
import { isDamage, lastSessionOf, skipDamagedPages, unlessDamaged } from './damage/skip-damaged-pages.ts'
import { whileBusy } from './file/busy-retry.ts'
import { openForReading } from './file/database-file.ts'
import { openSqliteReader } from './read/inline-reader.ts'
import { draftOf, recordOf } from './rows/decode.ts'
import { checked } from './rows/record-reader.ts'
import { catchUpIndex } from './write/catch-up-index.ts'

type Row = Record<string, unknown>

const sessionRows = `
  select session.sid, session.id, parent.id as parent, session.base, session.head, session.owner, session.trashed_at,
    session.purged_at, session.meta, session.active_at, session.spoken, session.busy
  from session left join session parent on parent.sid = session.parent`
const recordRows = 'select seq, at, type, v, client, command_id, ref, crc, body from record'

/**
 * Opens a store file to look at, on this thread and without a worker. Null when there is none: nothing is made.
 * Refused: not_a_store, store_too_new, storage_error.
 */
export function openReadOnlySqlite(path: string): Result<ReadOnlyStore | null> {
  const tidy = noteBeside(path)
  const opened = openSqliteReader(path)
  if (!opened.ok || opened.value === null) {
    tidy()
    return opened.ok ? ok(null) : opened
  }
  const reader = opened.value
  // Prepared when first asked: most commands look at one session, or at a page of the list.
  let whole: ReturnType<typeof prepareWhole> | null = null
  const asked = <Value>(work: (prepared: ReturnType<typeof prepareWhole>) => Value): Value => {
    try {
      whole ??= prepareWhole(openForReading(path))
      const prepared = whole
      return whileBusy(() => work(prepared))
    } catch (error) {
      throw new HoldfastError(faultOf(error, path), { cause: error })
    }
  }

  return ok({
    list: async (request) => orThrow(reader.list(request)),
    find: async (name) => orThrow(reader.find(name)),
    entry: async (session) => orThrow(reader.entry(session)),
    async search(request) {
      catchUpIndex(path)
      return reader.search(request)
    },
    nodes: async () => orThrow(reader.nodes()),
    read: async (session, range) => orThrow(reader.read(session, range)),
    readRefs: async (session, calls) => orThrow(reader.readRefs(session, calls)),
    loadDraft: async (session) => asked(({ draft }) => draft(session)),
    loadSnapshot: async (session, fold) => orThrow(reader.loadSnapshot(session, fold)),

    sessions: async (after, limit) => asked(({ sessions }) => sessions(after, limit).map(keptOf)),
    kept: async (session) =>
      asked(({ kept }) => {
        const row = kept(session)
        return row === null ? null : keptOf(row)
      }),
    ownRecords: async (session, after, limit) => asked((prepared) => prepared.own(session, after, limit)),
    ownRecordsOf: async (session, types, after, limit) =>
      asked(({ ofTypes }) =>
        ofTypes.all(session, after, JSON.stringify([...types]), limit).map((row) => recordOf(checked(session, row))),
      ),
    countOwn: async (session) => asked(({ counts }) => counts.all(session).map(countOf)),
    trusts: async () => asked(({ trusts }) => trusts.all().map(trustOf)),
    snapshotOf: async (session) => asked(({ snapshot }) => snapshot(session)),
    async close() {
      reader.close()
      whole?.close()
      tidy()
    },
  })
}

/** What an index leads to no more is looked for without it: a damaged page costs what is on it, and nothing else. */
function prepareWhole(database: DatabaseSync) {
  const sessionPage = database.prepare(`${sessionRows} where session.sid > ? order by session.sid limit ?`)
  const sessionsBetween = database.prepare(`${sessionRows} where session.sid between ? and ?`)
  const sidRow = database.prepare('select sid from session where id = ?')
  const bySid = database.prepare(`${sessionRows} where session.sid = ?`)
  const records = database.prepare(`${recordRows} where sid = ? and seq between ? and ? order by seq`)
  const ofTypes = database.prepare(`
    ${recordRows} where sid = (select sid from session where id = ?) and seq > ?
      and type in (select value from json_each(?)) order by seq limit ?`)
  const counts = database.prepare(`
    select type, substr(at, 1, 10) as day, count(*) as count from record
    where sid = (select sid from session where id = ?) group by 1, 2`)
  const trusts = database.prepare('select workspace, tool, args_hash from trust order by workspace, tool, args_hash')
  const snapshotRow = database.prepare('select seq, fold, crc, body from snapshot where sid = ?')
  const draftRow = database.prepare('select step, parts from draft where sid = ?')
  const salvage = createDamagedReader(database, recordRows)

  const sidOf = (session: SessionId): number | null =>
    unlessDamaged(
      () => sidRow.get(session)?.['sid'] as number | undefined, // an integer primary key
      () => salvage.sidOf(session),
    )

  function kept(session: SessionId): Row | null {
    const sid = sidOf(session)
    if (sid === null) return null
    return unlessDamaged(
      () => bySid.get(sid),
      () => null,
    )
  }

  function readableSessions(after: number, limit: number): readonly Row[] {
    const found: Row[] = []
    skipDamagedPages(after + 1, lastSessionOf(database), (from, upTo) => {
      if (found.length < limit) found.push(...sessionsBetween.all(from, upTo))
    })
    return found.slice(0, limit)
  }

  /** One answer for each seq: a row that is gone is lost, as one that is damaged. */
  function own(session: SessionId, after: number, limit: number) {
    const row = kept(session)
    if (row === null) return []
    const [sid, upTo] = [Number(row['sid']), Math.min(Number(row['head']), after + limit)]
    const rows = unlessDamaged(
      () => records.all(sid, after + 1, upTo),
      () => [],
    )
    const found = new Map(rows.map((one): [number, Row] => [Number(one['seq']), one]))
    return Array.from({ length: Math.max(0, upTo - after) }, (_, index) => {
      const seq = after + 1 + index
      const one = found.get(seq) ?? salvage.record(sid, seq)
      return recordOf(one === null ? { seq, lost: true } : checked(session, one))
    })
  }

  function snapshot(session: SessionId): StoredSnapshot | 'damaged' | null {
    const sid = sidOf(session)
    if (sid === null) return null
    try {
      const row = snapshotRow.get(sid)
      if (row === undefined) return null
      const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
      return snapshotChecksum(session, stored) === Number(row['crc']) ? stored : 'damaged'
    } catch (error) {
      if (isDamage(error)) return 'damaged'
      throw error
    }
  }

  /** A draft that cannot be read is one that was not saved yet. */
  function draft(session: SessionId): Draft | null {
    const sid = sidOf(session)
    if (sid === null) return null
    const row = unlessDamaged(
      () => draftRow.get(sid),
      () => null,
    )
    return row === null ? null : draftOf({ step: Number(row['step']), parts: String(row['parts']) })
  }

  const sessions = (after: number, limit: number): readonly Row[] =>
    unlessDamaged(
      () => sessionPage.all(after, limit),
      () => readableSessions(after, limit),
    )
  return { sessions, kept, ofTypes, counts, trusts, snapshot, draft, own, close: () => database.close() }
}

function keptOf(row: Row): KeptSession {
  const isPurged = row['purged_at'] !== null
  return {
    order: Number(row['sid']),
    id: String(row['id']) as SessionId, // the column takes nothing else
    parent: row['parent'] === null ? null : (String(row['parent']) as SessionId), // as above
    base: Number(row['base']),
    head: Number(row['head']),
    owner: row['owner'] === null ? null : String(row['owner']),
    trashedAt: row['trashed_at'] === null ? null : Number(row['trashed_at']),
    entry: isPurged ? null : entryOf(row),
    isPurged,
  }
}

function entryOf(row: Row): CatalogueEntry | null {
  try {
    const meta = JSON.parse(String(row['meta'])) as Meta // written by us; what is no JSON any more is damaged
    const [spoken, busy] = [row['spoken'] === 1, row['busy'] === 1]
    return { meta, spoken, busy, activeAt: Number(row['active_at']) }
  } catch {
    return null
  }
}

const countOf = (row: Row): TypeCount => ({
  type: String(row['type']),
  day: String(row['day']),
  count: Number(row['count']),
})

function trustOf(row: Row): WorkspaceTrust {
  const argsHash = String(row['args_hash'])
  return {
    workspace: String(row['workspace']),
    trust: {
      tool: String(row['tool']),
      scope: 'workspace',
      ...(argsHash !== '' && { argsHash: argsHash as BlobHash }), // the column takes nothing else
    },
  }
}
