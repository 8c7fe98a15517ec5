import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { temporaryPath } from '../../disk.ts'
import { storageFault } from '../../storage-fault.ts'
import { findFileFault, openForReading, openForWriting, prepareStoreFile } from '../file/database-file.ts'
import { copyRows, findIntegrityProblem } from '../rescue/copy-rows.ts'

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

/** Replaces a damaged file, of which the caller has a copy, with a new one that has every readable row. */
export async function rebuildDatabase(path: string): Promise<void> {
  const draft = temporaryPath(path)
  const refusal = prepareStoreFile(draft)
  if (refusal !== null) throw new HoldfastError(refusal)
  try {
    const problem = copyReadableRows(path, draft)
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

function copyReadableRows(from: string, to: string): string | null {
  // Opened to write: closing the last connection checkpoints the log of the damaged file.
  using damaged = openForWriting(from)
  return copyRows(damaged, to)
}
