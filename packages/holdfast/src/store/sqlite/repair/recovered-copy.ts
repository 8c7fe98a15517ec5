import { existsSync, rmSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { faultOf } from '../../storage-fault.ts'
import { openForReading, openForWriting } from '../files/database-file.ts'
import { fillStartedFor } from '../rows/schema.ts'

type Row = Record<string, SQLOutputValue>

/** A session of a saved copy, and how it continues the one of the store. */
type SavedSession = {
  readonly row: Row
  /** The sid in the store; null if it is not there. */
  readonly sid: number | null
  /** The last record that both have. */
  readonly after: number
  readonly upTo: number
}

export type SavedRecords = {
  /** The sessions that have records which only the copy has, and can be continued with them. */
  readonly sessions: readonly SavedSession[]
  readonly records: number
  /** The sessions that went on in the store in another way, or whose name another one has now. */
  readonly conflicts: readonly string[]
}

/**
 * Compares a copy that was saved when an open store lost its file with what the store has now. Changes nothing. Throws a fault
 * that names the file which cannot be read.
 */
export function findSavedRecords(path: string, saved: string): SavedRecords {
  using store = naming(path, () => openForReading(path))
  using copy = naming(saved, () => openForReading(saved))
  return compare(readsOf(store, path), readsOf(copy, saved))
}

/** Prepares statements that only read, and whose faults name the file. */
type Reads = {
  prepare(sql: string): {
    get(...values: readonly SQLInputValue[]): Row | undefined
    all(...values: readonly SQLInputValue[]): readonly Row[]
  }
}

function readsOf(database: DatabaseSync, path: string): Reads {
  return {
    prepare(sql) {
      const statement = naming(path, () => database.prepare(sql))
      return {
        get: (...values) => naming(path, () => statement.get(...values)),
        all: (...values) => naming(path, () => statement.all(...values)),
      }
    },
  }
}

function naming<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new HoldfastError(faultOf(error, path))
  }
}

function compare(store: Reads, copy: Reads): SavedRecords {
  const last = '(select max(seq) from record where record.sid = session.sid)'
  const own = store.prepare(`select sid, base, purged_at, ${last} as last from session where id = ?`)
  const named = store.prepare('select 1 from session where handle = ? or key = ?')
  const recordIn = (database: Reads) => database.prepare('select at, type, crc from record where sid = ? and seq = ?')
  const [inStore, inCopy] = [recordIn(store), recordIn(copy)]
  const sessions: SavedSession[] = []
  const conflicts: string[] = []
  const idOf = copy.prepare('select id from session where sid = ?')
  /** A fork of a session that was purged since lacks the records that it shared. */
  const isParentKnown = ({ parent }: Row): boolean => {
    if (parent === null || parent === undefined) return true
    const id = String(idOf.get(parent)?.['id'])
    return own.get(id) !== undefined || sessions.some(({ row }) => row['id'] === id)
  }
  for (const row of copy.prepare(`select *, ${last} as last from session where purged_at is null order by sid`).all()) {
    const known = own.get(String(row['id'])) ?? null
    const after = Number(known?.['last'] ?? known?.['base'] ?? row['base'])
    const upTo = Number(row['last'] ?? 0)
    if (upTo <= after || (known?.['purged_at'] ?? null) !== null) continue
    const isSame =
      known === null
        ? isParentKnown(row) && named.get(row['handle'] ?? null, row['key'] ?? null) === undefined
        : known['last'] === null ||
          JSON.stringify(inStore.get(known['sid'] ?? null, after)) ===
            JSON.stringify(inCopy.get(row['sid'] ?? null, after))
    if (isSame) sessions.push({ row, sid: known === null ? null : Number(known['sid']), after, upTo })
    else conflicts.push(String(row['id']))
  }
  const records = sessions.reduce((sum, { after, upTo }) => sum + upTo - after, 0)
  return { sessions, records, conflicts }
}

/** Adds the records that only a saved copy has to the store, in one transaction. The caller has exclusive use of both. */
export function addSavedRecords(path: string, saved: string): void {
  using store = openForWriting(path)
  using copy = openForReading(saved)
  store.exec('begin immediate')
  const sids = new Map<number, number>()
  const ownSid = store.prepare('select sid from session where id = ?')
  for (const { sid, id } of copy.prepare('select sid, id from session').all()) {
    const known = ownSid.get(String(id))?.['sid']
    if (known !== undefined) sids.set(Number(sid), Number(known))
  }
  const listed = copy.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`)
  const tables = copiedTables.filter(({ table }) => listed.get(table) !== undefined) // an earlier version lacks some
  for (const session of compare(readsOf(store, path), readsOf(copy, saved)).sessions) {
    const sid = session.sid ?? addSession(store, session.row, sids)
    sids.set(Number(session.row['sid']), sid)
    if (session.sid !== null) continueSession(store, sid, session.row)
    for (const { table, columns } of tables) copyOf(store, copy, table, columns, { ...session, sid })
  }
  for (const { workspace, tool, args_hash } of copy.prepare('select * from trust').all())
    store
      .prepare('insert or ignore into trust values (?, ?, ?)')
      .run(workspace ?? null, tool ?? null, args_hash ?? null)
  store.exec(fillStartedFor)
  store.exec('commit')
}

const copiedTables = [
  { table: 'record', columns: ['seq', 'at', 'type', 'v', 'client', 'command_id', 'ref', 'crc', 'body'] },
  { table: 'blob_use', columns: ['hash', 'seq'] },
  { table: 'command_hash', columns: ['seq', 'hash'] },
] as const

const sessionColumns = ['workspace', 'active_at', 'spoken', 'pinned', 'meta', 'trashed_at'] as const

/** The process that owned it is gone with the store that it had. */
function addSession(store: DatabaseSync, row: Row, sids: ReadonlyMap<number, number>): number {
  const parent = row['parent'] === null ? null : (sids.get(Number(row['parent'])) ?? null)
  const names = ['id', 'handle', 'key', 'base', 'epoch', 'busy', ...sessionColumns] as const
  const values = names.map((name) => row[name] ?? null)
  const added = store.prepare(
    `insert into session (parent, head, ${names.join(', ')}) values (?, ?, ${names.map(() => '?').join(', ')})`,
  )
  return Number(added.run(parent, row['last'] ?? null, ...values).lastInsertRowid)
}

function continueSession(store: DatabaseSync, sid: number, row: Row): void {
  const set = sessionColumns.map((name) => `${name} = ?`).join(', ')
  const values = sessionColumns.map((name) => row[name] ?? null)
  store.prepare(`update session set head = ?, ${set} where sid = ?`).run(row['last'] ?? null, ...values, sid)
  store.prepare('delete from snapshot where sid = ?').run(sid)
}

type Span = Pick<SavedSession, 'row' | 'after'> & { readonly sid: number }

function copyOf(
  store: DatabaseSync,
  copy: DatabaseSync,
  table: string,
  columns: readonly string[],
  { row, sid, after }: Span,
): void {
  const rows = copy.prepare(`select ${columns.join(', ')} from ${table} where sid = ? and seq > ? order by seq`)
  const insert = store.prepare(
    `insert into ${table} (sid, ${columns.join(', ')}) values (?, ${columns.map(() => '?').join(', ')})`,
  )
  for (const one of rows.iterate(row['sid'] ?? null, after)) insert.run(sid, ...Object.values(one))
}

/** Removes what SQLite left beside a saved copy that was read. */
export function removeBeside(saved: string): void {
  for (const file of [`${saved}-wal`, `${saved}-shm`]) if (existsSync(file)) rmSync(file)
}
