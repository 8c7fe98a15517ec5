import type { CatalogueEntry, Charge, ReadRecord } from '@holdfast/core/ports'
import type { BlobHash, SessionId } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { allRows, toSpent } from '../ledger.ts'
import type { ReadOnlyStore, StoreSession, TypeCount, WorkspaceTrust } from '../read-only-store.ts'
import { snapshotChecksum } from '../snapshot-checksum.ts'
import { decodeRecord } from '../stored-record.ts'
import { connect, type Database, type SqlRow } from './connect/connect.ts'
import type { PostgresLocation } from './connect/postgres-url.ts'
import { createCatalogueReader } from './read/catalogue-reader.ts'
import { checkRecord, numberOrNull, readEntry, recordColumns, textOrNull } from './read/columns.ts'
import { createLogReader } from './read/log-reader.ts'
import { measureTables, readLiveNodes } from './read/store-state.ts'
import { findStore } from './schema/migrate.ts'
import { createSearch } from './search/search-reader.ts'
import { createDraftRows } from './write/draft-rows.ts'
import { createLeases } from './write/leases.ts'
import { createPermissionRows } from './write/permission-rows.ts'
import { createSpendingRows } from './write/spending-rows.ts'
import { createTokenRows } from './write/token-rows.ts'

/** Opens a store in a database to read; null if there is none. Creates nothing. Refused: store_too_new, storage_error. */
export async function openReadOnlyPostgres(location: PostgresLocation): Promise<Result<ReadOnlyStore | null>> {
  const database = await connect(location)
  const found = await findStore(database, location.schema)
  if (found.ok && found.value) return ok(createReadOnlyStore(database))
  await database.close()
  return found.ok ? ok(null) : found
}

function createReadOnlyStore(database: Database): ReadOnlyStore {
  const { nodes } = createLeases(database)
  const { loadDraft, loadSnapshot } = createDraftRows(database)
  const { tokens } = createTokenRows(database)
  const { caps } = createSpendingRows(database)
  const { read: readLog, readRefs } = createLogReader(database)
  const { list, find, entry } = createCatalogueReader(database)
  return {
    nodes,
    loadDraft,
    loadSnapshot,
    tokens,
    caps,
    read: readLog,
    readRefs,
    list,
    find,
    entry,
    ...createSearch(database),
    ...createWholeReader(database),
    liveNodes: () => readLiveNodes(database),
    measure: () => measureTables(database),
    rules: createPermissionRows(database).rules,
    close: () => database.close(),
  }
}

const selectSession = `
  select own.sid, own.id, parent.id as parent, own.base, own.head, own.owner, own.trashed_at, own.purged_at, own.meta,
    own.active_at, own.spoken, own.busy, own.tenant, own.label
  from @session own left join @session parent on parent.sid = own.parent`
const ownRecord = `${recordColumns} from @record where sid = (select sid from @session where id = $1)`

type WholeReader = Pick<
  ReadOnlyStore,
  'sessions' | 'session' | 'ownRecords' | 'ownRecordsOf' | 'countOwn' | 'trusts' | 'charges' | 'snapshotOf'
>

/** Reads whole stores, for copies and checks. */
function createWholeReader({ read }: Database): WholeReader {
  async function session(id: SessionId): Promise<StoreSession | null> {
    const [row] = await read(`${selectSession} where own.id = $1`, [id])
    return row === undefined ? null : toStoreSession(row)
  }

  return {
    session,
    sessions: async (after, limit) =>
      (await read(`${selectSession} where own.sid > $1 order by own.sid limit $2`, [after, limit])).map(toStoreSession),
    async ownRecords(id, after, limit) {
      const upTo = Math.min((await session(id))?.head ?? 0, after + limit)
      const rows = await read(`select ${ownRecord} and seq > $2 and seq <= $3`, [id, after, upTo])
      const bySeq = new Map(rows.map((row) => [row['seq'], row]))
      return Array.from({ length: Math.max(0, upTo - after) }, (_, index): ReadRecord => {
        const row = bySeq.get(after + 1 + index)
        return row === undefined ? { seq: after + 1 + index, lost: true } : decodeRecord(checkRecord(id, row))
      })
    },
    async ownRecordsOf(id, types, after, limit) {
      const values = [id, after, [...types], limit]
      const rows = await read(`select ${ownRecord} and seq > $2 and type = any($3) order by seq limit $4`, values)
      return rows.map((row) => decodeRecord(checkRecord(id, row)))
    },
    async countOwn(id) {
      const rows = await read(
        `select type, substr(at, 1, 10) as day, count(*) as count from @record
        where sid = (select sid from @session where id = $1) group by 1, 2 order by 1, 2`,
        [id],
      )
      return rows.map((row) => ({ ...row }) as TypeCount) // its columns
    },
    async trusts() {
      const rows = await read('select workspace, tool, args_hash from @trust order by workspace, tool, args_hash')
      return rows.map((row): WorkspaceTrust => {
        const argsHash = String(row['args_hash']) as BlobHash // as it was granted
        const trust = { tool: String(row['tool']), scope: 'workspace', ...(argsHash !== '' && { argsHash }) } as const
        return { workspace: String(row['workspace']), trust }
      })
    },
    async charges() {
      const rows = await read(
        `select day, payer, workspace, calls, unpriced, tokens, cost from @spending
        where payer <> '${allRows}' and workspace <> '${allRows}' order by day, payer, workspace`,
      )
      return rows.map(
        (row): Charge => ({
          day: String(row['day']),
          payer: String(row['payer']),
          workspace: String(row['workspace']),
          ...toSpent(row),
        }),
      )
    },
    async snapshotOf(id) {
      const [row] = await read(
        'select snapshot.seq, fold, crc, body from @snapshot snapshot join @session using (sid) where id = $1',
        [id],
      )
      if (row === undefined) return null
      const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
      return snapshotChecksum(id, stored) === row['crc'] ? stored : 'damaged'
    },
  }
}

function toStoreSession(row: SqlRow): StoreSession {
  const isPurged = row['purged_at'] !== null
  return {
    id: String(row['id']) as SessionId, // the column holds nothing else
    order: Number(row['sid']),
    parent: textOrNull(row['parent']) as SessionId | null, // as above
    base: Number(row['base']),
    head: Number(row['head']),
    owner: textOrNull(row['owner']),
    trashedAt: numberOrNull(row['trashed_at']),
    entry: isPurged ? null : entryIfIntact(row),
    isPurged,
    ...(row['tenant'] !== null && { tenant: String(row['tenant']) }),
    ...(row['label'] !== null && { label: String(row['label']) }),
  }
}

function entryIfIntact(row: SqlRow): CatalogueEntry | null {
  try {
    return readEntry(row)
  } catch {
    return null
  }
}
