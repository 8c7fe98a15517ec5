import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import type { NodeRow } from '@holdfast/core/ports'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { findLiveNodes } from '../../../system/node/node-socket.ts'
import { temporaryPath } from '../../disk.ts'
import { sqliteCode, storageFault } from '../../storage-fault.ts'
import { isTableReadable, readDamagedSessions } from '../files/damaged-pages.ts'
import { findFileFault, openForReading, openForWriting, prepareStoreFile } from '../files/database-file.ts'
import { copyRows, findIntegrityProblem } from '../repair/copy-rows.ts'
import { findFreePages, removeCopy, writeCorrectedCopy } from '../repair/corrected-copy.ts'
import { addLostSessions } from '../repair/lost-sessions.ts'
import { addRecordsOfPages, addSessionsOfPages } from '../repair/page-rows.ts'

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

/** The earliest version whose rows fit the tables of this one. */
export const oldestRebuilt = 2

/** Replaces a damaged file with a repaired copy of it. Changes nothing if another process has the store open. */
export async function replaceDatabase(path: string, copy: string): Promise<void> {
  await expectNoUser(path, copy)
  await moveDatabase(copy, path)
}

/** Moves a file that nothing has open to the place of a store. */
export async function moveDatabase(from: string, to: string): Promise<void> {
  await syncFile(from)
  renameSync(from, to)
  await syncDirectory(dirname(to))
}

/** The tables whose rows cannot all be read, and the records without a session. */
export type DamagedCopy = {
  readonly damagedTables: readonly string[]
  /** False: the list of tables is damaged, and only the rows of sessions, records and nodes were found by their pages. */
  readonly hasTableList: boolean
  readonly orphans: { readonly records: number; readonly sessions: number }
  /** The new ids of sessions whose ids are lost. */
  readonly renamed: readonly string[]
  /** True if rows of sessions are lost, and the index that has all ids is damaged. */
  readonly mayLackSessions: boolean
  /** True if it is unknown which sessions were removed before, so that some of them may be listed again. */
  readonly mayReturnRemoved: boolean
}

/** Writes every readable row of a damaged file, which is not changed, to a new one. Null: it is no store, or has no readable session. */
export function copyDamagedDatabase(path: string, to: string): DamagedCopy | null {
  const corrected = temporaryPath(path)
  try {
    if (!writeCorrectedCopy(path, corrected)) return null
    const refusal = prepareStoreFile(to)
    if (refusal !== null) throw new HoldfastError(refusal)
    const damagedTables = copyTables(corrected, to)
    const hasTableList = damagedTables !== copiedTables
    const added = addRowsOfPages(path, corrected, to, damagedTables)
    using copy = openForReading(to)
    const problem = findIntegrityProblem(copy)
    if (problem !== null) throw new HoldfastError(storageFault(path, 'damaged', { error: problem }))
    // Keep the damaged file rather than replace it with an empty store.
    const isEmpty = copy.prepare('select 1 from session').get() === undefined
    if (isEmpty && damagedTables.length > 0) return null
    const orphans = copy.prepare(`
      select count(*) as records, count(distinct sid) as sessions from record where sid not in (select sid from session)`)
    return { damagedTables, hasTableList, ...added, orphans: orphans.get() as DamagedCopy['orphans'] } // its columns
  } finally {
    removeCopy(corrected)
  }
}

const copiedTables: readonly string[] = ['session', 'record', 'draft', 'trust']

/** Copies the rows that SQLite can read. Returns the tables with damaged pages: all if the list of tables is damaged. */
function copyTables(from: string, to: string): readonly string[] {
  try {
    // Opened to write: closing the last connection copies its log into the file.
    using damaged = openForWriting(from)
    copyRows(damaged, to)
    return copiedTables.filter((table) => !isTableReadable(damaged, table))
  } catch (error) {
    if (!unreadableCodes.has(sqliteCode(error))) throw error
    return copiedTables
  }
}

/** SQLITE_ERROR (a table is missing), SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB. */
const unreadableCodes: ReadonlySet<number | null> = new Set([1, 10, 11, 26])

/** Adds the rows that no other page leads to any more. */
function addRowsOfPages(path: string, corrected: string, to: string, damagedTables: readonly string[]) {
  const none = { renamed: [], mayLackSessions: false, mayReturnRemoved: false }
  if (!damagedTables.some((table) => table === 'session' || table === 'record')) return none
  using copy = openForWriting(to)
  copy.exec('begin immediate')
  addSessionsOfPages(corrected, copy)
  const mayLackSessions = damagedTables.includes('session') && !hasAllIds(corrected)
  const free = mayLackSessions ? findFreePages(path, corrected) : null
  const found = mayLackSessions ? addLostSessions(corrected, copy, free ?? new Set()) : null
  addRecordsOfPages(corrected, copy)
  copy.exec('commit')
  const mayReturnRemoved = free === null && (found?.added ?? 0) > 0
  return { renamed: found?.renamed ?? [], mayLackSessions, mayReturnRemoved }
}

/** Returns whether the index of ids is intact. Then a session that it lacks was removed. */
function hasAllIds(path: string): boolean {
  try {
    using database = openForReading(path)
    return readDamagedSessions(database) !== null
  } catch (error) {
    if (!unreadableCodes.has(sqliteCode(error))) throw error
    return false
  }
}

/** Throws if another process has the store open. */
async function expectNoUser(path: string, copy: string): Promise<void> {
  try {
    // SQLite removes the log when the last connection closes.
    using database = openForWriting(path)
    database.prepare('select 1 from sqlite_schema').get()
  } catch (error) {
    if (sqliteCode(error) === null) throw error
    await expectNoLiveNode(path, copy)
    // SQLite cannot read the file, so nothing has it open. It would replay the log into the new file.
    for (const left of [`${path}-wal`, `${path}-shm`]) rmSync(left, { force: true })
  }
  if (existsSync(`${path}-wal`)) throw new HoldfastError(storageFault(path, 'busy'))
}

async function expectNoLiveNode(path: string, copy: string): Promise<void> {
  using database = openForReading(copy)
  const nodes = database.prepare('select id, address, started_at as startedAt from node').all() as Omit<
    NodeRow,
    'isLive'
  >[] // its columns
  if ((await findLiveNodes({ nodes: async () => nodes })).length > 0)
    throw new HoldfastError(storageFault(path, 'busy'))
}
