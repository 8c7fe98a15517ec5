import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { CatalogueEntry, Draft, ReadRecord, StoredSnapshot, StoredToken } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result } from '@holdfast/protocol/result'
import type { ReadOnlyStore, StoreSession, TypeCount, WorkspaceTrust } from '../read-only-store.ts'
import { snapshotChecksum } from '../snapshot-checksum.ts'
import { faultOf, sqliteCode } from '../storage-fault.ts'
import { decodeRecord } from '../stored-record.ts'
import { whileBusy } from './files/busy-retry.ts'
import { createDamagedReader, lastSessionOf, runOnReadableRows, unlessDamaged } from './files/damaged-pages.ts'
import { openForReading } from './files/database-file.ts'
import { createReadMethods, decodeDraft, decodeEntry, decodeTrust } from './read/read-methods.ts'
import { openReader, selectTokens, toToken } from './read/reader.ts'
import { readCharges } from './read/spending-reader.ts'
import * as columns from './rows/columns.ts'
import { hasTable } from './rows/schema.ts'
import { catchUpIndex } from './write/writer.ts'

type WholeStore = ReturnType<typeof prepareWholeStore>

/** Opens a store file to read, without a worker. Returns null if there is none. Refused: as by `openReader`. */
export function openReadOnlySqlite(path: string): Result<ReadOnlyStore | null> {
  const removeEmptyLog = createLogRemover(path)
  const opened = openReader(path)
  if (!opened.ok || opened.value === null) {
    removeEmptyLog()
    return opened.ok ? ok(null) : opened
  }
  const reader = opened.value
  // Prepared on first use: most commands read one session or one page of the list.
  let prepared: WholeStore | null = null
  const query =
    <Args extends readonly unknown[], Value>(method: (whole: WholeStore) => (...args: Args) => Value) =>
    async (...args: Args): Promise<Value> => {
      try {
        prepared ??= prepareWholeStore(openForReading(path))
        const run = method(prepared)
        return whileBusy(() => run(...args))
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
    loadDraft: query((whole) => whole.loadDraft),
    sessions: query((whole) => whole.sessions),
    session: query((whole) => whole.session),
    ownRecords: query((whole) => whole.ownRecords),
    ownRecordsOf: query((whole) => whole.ownRecordsOf),
    countOwn: query((whole) => whole.countOwn),
    trusts: query((whole) => whole.trusts),
    tokens: query((whole) => whole.tokens),
    charges: query((whole) => whole.charges),
    snapshotOf: query((whole) => whole.snapshotOf),
    async close() {
      reader.close()
      prepared?.close()
      removeEmptyLog()
    },
  })
}

/** Returns a function that removes the write-ahead log that a reader created; only a writer that closes last would. */
function createLogRemover(path: string): () => void {
  const isOpenElsewhere = existsSync(`${path}-wal`) || existsSync(`${path}-shm`)
  return () => {
    if (isOpenElsewhere || !existsSync(`${path}-wal`) || (statSync(path).mode & 0o200) === 0) return
    try {
      using database = new DatabaseSync(path, { timeout: 0 })
      database.prepare('select 1 from sqlite_schema limit 1').get() // SQLite's locks protect the log of another process
    } catch (error) {
      // Busy, read-only or damaged: an empty log does no harm.
      if (sqliteCode(error) === null) throw error
    }
  }
}

/** Reads whole stores. Rows that a damaged index does not find are read without it; only rows on damaged pages are lost. */
function prepareWholeStore(database: DatabaseSync) {
  const { selectSession, recordColumns } = columns
  const selectRecord = `select ${recordColumns} from record`
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
  const allTrusts = database.prepare('select workspace, tool, args_hash from trust order by workspace, tool, args_hash')
  const snapshotBySid = database.prepare('select seq, fold, crc, body from snapshot where sid = ?')
  const draftBySid = database.prepare('select step, parts from draft where sid = ?')
  const damaged = createDamagedReader(database, selectRecord)

  const findSid = (session: SessionId): number | null =>
    unlessDamaged(null, () => sidById.get(session)?.['sid'] as number | undefined) ?? damaged.findSid(session) // an integer primary key

  function findSession(id: SessionId): StoreSession | null {
    const sid = findSid(id)
    const row = sid === null ? undefined : unlessDamaged(undefined, () => bySid.get(sid))
    return row === undefined ? null : toStoreSession(row)
  }

  function readUndamagedSessions(after: number, limit: number): readonly columns.Row[] {
    const found: columns.Row[] = []
    runOnReadableRows(after + 1, lastSessionOf(database), (from, upTo) => {
      if (found.length < limit) found.push(...sessionsBetween.all(from, upTo))
    })
    return found.slice(0, limit)
  }

  return {
    session: findSession,
    sessions(after: number, limit: number): readonly StoreSession[] {
      const rows = unlessDamaged(null, () => sessionPage.all(after, limit)) ?? readUndamagedSessions(after, limit)
      return rows.map(toStoreSession)
    },
    /** Returns one record for each seq: a missing row is lost, like a damaged one. */
    ownRecords(session: SessionId, after: number, limit: number): readonly ReadRecord[] {
      const found = findSession(session)
      if (found === null) return []
      const [sid, upTo] = [found.order, Math.min(found.head, after + limit)]
      const rows = unlessDamaged([], () => records.all(sid, after + 1, upTo))
      const bySeq = new Map(rows.map((row): [number, columns.Row] => [Number(row['seq']), row]))
      return Array.from({ length: Math.max(0, upTo - after) }, (_, index) => {
        const seq = after + 1 + index
        const row = bySeq.get(seq) ?? damaged.findRecord(sid, seq)
        return decodeRecord(row === null ? { seq, lost: true } : columns.checkRecord(session, row))
      })
    },
    ownRecordsOf(session: SessionId, types: ReadonlySet<string>, after: number, limit: number): readonly ReadRecord[] {
      const rows = ofTypes.all(session, after, JSON.stringify([...types]), limit)
      return rows.map((row) => decodeRecord(columns.checkRecord(session, row)))
    },
    countOwn: (session: SessionId) => counts.all(session) as unknown as readonly TypeCount[], // its columns
    trusts: (): readonly WorkspaceTrust[] =>
      allTrusts.all().map((row) => ({
        workspace: String(row['workspace']),
        trust: decodeTrust({ tool: String(row['tool']), argsHash: String(row['args_hash']) }),
      })),
    /** A store of an earlier version has no tokens. */
    tokens: (): readonly StoredToken[] =>
      hasTable(database, 'token') ? database.prepare(selectTokens).all().map(toToken) : [],
    charges: () => readCharges(database),
    snapshotOf(session: SessionId): StoredSnapshot | 'damaged' | null {
      const sid = findSid(session)
      const row = sid === null ? undefined : unlessDamaged('damaged', () => snapshotBySid.get(sid))
      if (row === undefined) return null
      if (row === 'damaged') return row
      const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
      return snapshotChecksum(session, stored) === Number(row['crc']) ? stored : 'damaged'
    },
    /** Treats an unreadable draft as one that was not saved. */
    loadDraft(session: SessionId): Draft | null {
      const sid = findSid(session)
      const row = sid === null ? undefined : unlessDamaged(undefined, () => draftBySid.get(sid))
      return row === undefined ? null : decodeDraft({ step: Number(row['step']), parts: String(row['parts']) })
    },
    close: (): void => database.close(),
  }
}

function toStoreSession(row: columns.Row): StoreSession {
  const { entry, ...session } = columns.readSession(row)
  const [owner, trashedAt] = [columns.textOrNull(row['owner']), columns.numberOrNull(row['trashed_at'])]
  return { ...session, owner, trashedAt, entry: session.isPurged ? null : decodeIfIntact(entry) }
}

function decodeIfIntact(entry: Parameters<typeof decodeEntry>[0]): CatalogueEntry | null {
  try {
    return decodeEntry(entry)
  } catch {
    return null
  }
}
