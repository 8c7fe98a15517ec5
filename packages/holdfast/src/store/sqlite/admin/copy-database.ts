import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { temporaryPath } from '../../disk.ts'
import { storageFault } from '../../storage-fault.ts'
import {
  isTableReadable,
  lastRecordOf,
  lastSessionOf,
  readDamagedSessions,
  restoreSessions,
  runOnReadableRows,
  unlessDamaged,
} from '../file/damaged-pages.ts'
import { findFileFault, openForReading, openForWriting, prepareStoreFile } from '../file/database-file.ts'
import { fillStartedFor, searchCursorName } from '../rows/schema.ts'

/** All pages in one step: with smaller steps each concurrent write would restart the copy, possibly forever. */
const allPages = 0x7fffffff

/** Copies a consistent snapshot of a store file. Returns the first problem SQLite finds in the copy, or null. */
export async function copyDatabase(from: string, to: string): Promise<string | null> {
  const refusal = findFileFault(from)
  if (refusal !== null) throw new HoldfastError(refusal)
  closeSync(openSync(to, 'wx', 0o600))
  chmodSync(to, 0o600) // regardless of the umask
  using database = openForReading(from)
  await backup(database, to, { rate: allPages })
  removeOwners(to)
  await syncFile(to)
  using copy = openForReading(to)
  return findIntegrityProblem(copy)
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** The sessions of the copy have no owner, even if the owner of the original is alive. */
function removeOwners(path: string): void {
  using database = new DatabaseSync(path)
  database.exec(`
    pragma journal_mode = delete;
    begin;
    update session set owner = null, epoch = epoch + 1 where owner is not null;
    delete from node;
    commit;
    pragma journal_mode = wal;
  `)
}

/** Returns the first problem that SQLite finds in a database, or null. */
function findIntegrityProblem(database: DatabaseSync): string | null {
  const message = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
  return message === 'ok' ? null : String(message)
}

/** The earliest version whose rows fit the tables of this one. */
export const oldestRebuilt = 2

/** Replaces a damaged file, of which the caller has a copy, with a new one that has every readable row. */
export async function rebuildDatabase(path: string): Promise<void> {
  const draft = temporaryPath(path)
  const refusal = prepareStoreFile(draft)
  if (refusal !== null) throw new HoldfastError(refusal)
  try {
    const problem = copyRows(path, draft)
    if (problem !== null) throw new HoldfastError(storageFault(path, 'damaged', { error: problem }))
    // SQLite would replay a remaining write-ahead log into the new file.
    if ([path, draft].some((file) => existsSync(`${file}-wal`))) throw new HoldfastError(storageFault(path, 'busy'))
    await syncFile(draft)
    renameSync(draft, path)
    await syncDirectory(dirname(path))
  } finally {
    for (const left of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(left, { force: true })
  }
}

/** Returns the first problem that SQLite finds in the copy, or null. */
function copyRows(from: string, to: string): string | null {
  // Opened to write: closing the last connection checkpoints the log of the damaged file.
  using damaged = openForWriting(from)
  using copy = openForWriting(to)
  const [sessions, records] = [lastSessionOf(damaged), lastRecordOf(damaged)]
  copy.exec('begin immediate')
  copyNumbered(damaged, copy, { table: 'session', key: 'sid', last: sessions })
  copyNumbered(damaged, copy, { table: 'record', key: 'pos', last: records })
  if (!isTableReadable(damaged, 'session')) restoreSessions(readDamagedSessions(damaged) ?? [], copy)
  for (const table of ['draft', 'snapshot']) copyNumbered(damaged, copy, { table, key: 'sid', last: sessions })
  // Some stores of version 2 lack this table; the session rows have the same data.
  if (hasTable(damaged, 'started_for'))
    copyNumbered(damaged, copy, { table: 'started_for', key: 'sid', last: sessions })
  copy.exec(fillStartedFor)
  for (const table of ['node', 'trust', 'blob_use', 'cursor']) copySmall(damaged, copy, table)
  // Rebuilds the word index from the first record on.
  copy.prepare('delete from cursor where name = ?').run(searchCursorName)
  // The sid of a removed session is never reused.
  copy.prepare(`update sqlite_sequence set seq = max(seq, ?) where name = 'session'`).run(sessions)
  copy.exec('commit')
  return findIntegrityProblem(copy)
}

const hasTable = (database: DatabaseSync, table: string): boolean =>
  database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`).get(table) !== undefined

type Numbered = { readonly table: string; readonly key: string; readonly last: number }

function copyNumbered(damaged: DatabaseSync, copy: DatabaseSync, { table, key, last }: Numbered): void {
  const rows = damaged.prepare(`select * from ${table} not indexed where ${key} between ? and ?`)
  const insert = createInsert(copy, table)
  runOnReadableRows(1, last, (from, upTo) => {
    for (const row of rows.all(from, upTo)) insert(row)
  })
}

/** Copies a small table without row numbers: the rows before the damage, then the rows after it. */
function copySmall(damaged: DatabaseSync, copy: DatabaseSync, table: string): void {
  const insert = createInsert(copy, table)
  for (const order of ['asc', 'desc']) {
    unlessDamaged(undefined, () => {
      for (const row of damaged.prepare(`select * from ${table} order by 1 ${order}`).iterate()) insert(row)
    })
  }
}

/** Ignores rows that exist already or conflict: a damaged page may repeat another. */
function createInsert(copy: DatabaseSync, table: string): (row: Record<string, SQLOutputValue>) => void {
  const columns = copy.prepare(`select * from ${table} limit 0`).columns()
  const statement = copy.prepare(`insert or ignore into ${table} values (${columns.map(() => '?').join(', ')})`)
  return (row) => void statement.run(...Object.values(row))
}
