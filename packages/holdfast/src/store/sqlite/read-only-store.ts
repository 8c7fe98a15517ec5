import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { CatalogueEntry, Draft, StoredSnapshot } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result } from '@holdfast/protocol/result'
import type { ReadOnlyStore, StoreSession } from '../read-only-store.ts'
import { snapshotChecksum } from '../snapshot-checksum.ts'
import { faultOf, isStorageFailure } from '../storage-fault.ts'
import { createDamagedReader } from './damage/damaged-reader.ts'
import { lastSessionOf, runOnReadableRows, unlessDamaged } from './damage/skip-damaged-pages.ts'
import { whileBusy } from './file/busy-retry.ts'
import { openForReading } from './file/database-file.ts'
import { createReadMethods } from './read/read-methods.ts'
import { openReader } from './read/reader.ts'
import { decodeDraft, decodeEntry, decodeRecord, decodeTrust, readEntry } from './rows/decode.ts'
import { checkRecord } from './rows/record-reader.ts'
import { catchUpIndex } from './write/catch-up-index.ts'

type Row = Record<string, unknown>

const selectSession = `
  select session.sid, session.id, parent.id as parent, session.base, session.head, session.owner, session.trashed_at,
    session.purged_at, session.meta, session.active_at, session.spoken, session.busy
  from session left join session parent on parent.sid = session.parent`
const selectRecord = 'select seq, at, type, v, client, command_id, ref, crc, body from record'

/**
 * Opens a store file to read, on this thread and without a worker. Returns null if there is no file, and creates none.
 * Refused: not_a_store, store_too_new, storage_error.
 */
export function openReadOnlySqlite(path: string): Result<ReadOnlyStore | null> {
  const removeEmptyLog = createLogRemover(path)
  const opened = openReader(path)
  if (!opened.ok || opened.value === null) {
    removeEmptyLog()
    return opened.ok ? ok(null) : opened
  }
  const reader = opened.value
  // Prepared on first use: most commands read one session or one page of the list.
  let prepared: ReturnType<typeof prepareWholeStore> | null = null
  const query = async <Value>(work: (whole: ReturnType<typeof prepareWholeStore>) => Value): Promise<Value> => {
    try {
      prepared ??= prepareWholeStore(openForReading(path))
      const whole = prepared
      return whileBusy(() => work(whole))
    } catch (error) {
      throw new HoldfastError(faultOf(error, path), { cause: error })
    }
  }
  const methods = createReadMethods(reader.ask)

  return ok({
    ...methods,
    search(request) {
      catchUpIndex(path)
      return methods.search(request)
    },
    loadDraft: (session) => query(({ readDraft }) => readDraft(session)),

    sessions: (after, limit) => query(({ readSessions }) => readSessions(after, limit).map(toStoreSession)),
    session: (session) =>
      query(({ findSession }) => {
        const row = findSession(session)
        return row === null ? null : toStoreSession(row)
      }),
    ownRecords: (session, after, limit) => query(({ readOwn }) => readOwn(session, after, limit)),
    ownRecordsOf: (session, types, after, limit) =>
      query(({ ofTypes }) =>
        ofTypes
          .all(session, after, JSON.stringify([...types]), limit)
          .map((row) => decodeRecord(checkRecord(session, row))),
      ),
    countOwn: (session) =>
      query(({ counts }) =>
        counts
          .all(session)
          .map((row) => ({ type: String(row['type']), day: String(row['day']), count: Number(row['count']) })),
      ),
    trusts: () =>
      query(({ trusts }) =>
        trusts.all().map((row) => ({
          workspace: String(row['workspace']),
          trust: decodeTrust({ tool: String(row['tool']), argsHash: String(row['args_hash']) }),
        })),
      ),
    snapshotOf: (session) => query(({ readSnapshot }) => readSnapshot(session)),
    async close() {
      reader.close()
      prepared?.close()
      removeEmptyLog()
    },
  })
}

/**
 * A reader creates a write-ahead log if there is none, and only a writer that closes last removes it. Returns a function
 * that removes it, for the time when all readers here are closed. SQLite's locks protect the log of another process.
 */
function createLogRemover(path: string): () => void {
  const isOpenElsewhere = existsSync(`${path}-wal`) || existsSync(`${path}-shm`)
  return () => {
    if (isOpenElsewhere || !existsSync(`${path}-wal`) || (statSync(path).mode & 0o200) === 0) return
    try {
      using database = new DatabaseSync(path, { timeout: 0 })
      database.prepare('select 1 from sqlite_schema limit 1').get()
    } catch (error) {
      // Busy, read-only or damaged: an empty log does no harm.
      if (!isStorageFailure(error)) throw error
    }
  }
}

/** Reads whole stores. Rows that a damaged index does not find are read without it; only rows on damaged pages are lost. */
function prepareWholeStore(database: DatabaseSync) {
  const sessionPage = database.prepare(`${selectSession} where session.sid > ? order by session.sid limit ?`)
  const sessionsBetween = database.prepare(`${selectSession} where session.sid between ? and ?`)
  const sidById = database.prepare('select sid from session where id = ?')
  const bySid = database.prepare(`${selectSession} where session.sid = ?`)
  const records = database.prepare(`${selectRecord} where sid = ? and seq between ? and ? order by seq`)
  const ofTypes = database.prepare(`
    ${selectRecord} where sid = (select sid from session where id = ?) and seq > ?
      and type in (select value from json_each(?)) order by seq limit ?`)
  const counts = database.prepare(`
    select type, substr(at, 1, 10) as day, count(*) as count from record
    where sid = (select sid from session where id = ?) group by 1, 2`)
  const trusts = database.prepare('select workspace, tool, args_hash from trust order by workspace, tool, args_hash')
  const snapshotBySid = database.prepare('select seq, fold, crc, body from snapshot where sid = ?')
  const draftBySid = database.prepare('select step, parts from draft where sid = ?')
  const damaged = createDamagedReader(database, selectRecord)

  const findSid = (session: SessionId): number | null =>
    unlessDamaged(null, () => sidById.get(session)?.['sid'] as number | undefined) ?? damaged.findSid(session) // an integer primary key

  function findSession(session: SessionId): Row | null {
    const sid = findSid(session)
    if (sid === null) return null
    return unlessDamaged(null, () => bySid.get(sid) ?? null)
  }

  function readUndamagedSessions(after: number, limit: number): readonly Row[] {
    const found: Row[] = []
    runOnReadableRows(after + 1, lastSessionOf(database), (from, upTo) => {
      if (found.length < limit) found.push(...sessionsBetween.all(from, upTo))
    })
    return found.slice(0, limit)
  }

  const readSessions = (after: number, limit: number): readonly Row[] =>
    unlessDamaged(null, () => sessionPage.all(after, limit)) ?? readUndamagedSessions(after, limit)

  /** Returns one record for each seq: a missing row is lost, like a damaged one. */
  function readOwn(session: SessionId, after: number, limit: number) {
    const row = findSession(session)
    if (row === null) return []
    const [sid, upTo] = [Number(row['sid']), Math.min(Number(row['head']), after + limit)]
    const rows = unlessDamaged([], () => records.all(sid, after + 1, upTo))
    const found = new Map(rows.map((one): [number, Row] => [Number(one['seq']), one]))
    return Array.from({ length: Math.max(0, upTo - after) }, (_, index) => {
      const seq = after + 1 + index
      const one = found.get(seq) ?? damaged.findRecord(sid, seq)
      return decodeRecord(one === null ? { seq, lost: true } : checkRecord(session, one))
    })
  }

  function readSnapshot(session: SessionId): StoredSnapshot | 'damaged' | null {
    const sid = findSid(session)
    if (sid === null) return null
    const row = unlessDamaged('damaged', () => snapshotBySid.get(sid))
    if (row === undefined) return null
    if (row === 'damaged') return row
    const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
    return snapshotChecksum(session, stored) === Number(row['crc']) ? stored : 'damaged'
  }

  /** Treats an unreadable draft as one that was not saved. */
  function readDraft(session: SessionId): Draft | null {
    const sid = findSid(session)
    if (sid === null) return null
    const row = unlessDamaged(undefined, () => draftBySid.get(sid))
    return row === undefined ? null : decodeDraft({ step: Number(row['step']), parts: String(row['parts']) })
  }

  const close = (): void => database.close()
  return { readSessions, findSession, ofTypes, counts, trusts, readSnapshot, readDraft, readOwn, close }
}

function toStoreSession(row: Row): StoreSession {
  const isPurged = row['purged_at'] !== null
  return {
    order: Number(row['sid']),
    id: String(row['id']) as SessionId, // the column holds nothing else
    parent: row['parent'] === null ? null : (String(row['parent']) as SessionId), // as above
    base: Number(row['base']),
    head: Number(row['head']),
    owner: row['owner'] === null ? null : String(row['owner']),
    trashedAt: row['trashed_at'] === null ? null : Number(row['trashed_at']),
    entry: isPurged ? null : decodeIntactEntry(row),
    isPurged,
  }
}

/** Returns null if the metadata is damaged. */
function decodeIntactEntry(row: Row): CatalogueEntry | null {
  try {
    return decodeEntry(readEntry(row))
  } catch {
    return null
  }
}
