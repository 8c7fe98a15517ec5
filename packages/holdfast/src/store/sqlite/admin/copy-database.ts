import { chmodSync, closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { findFileFault, openForReading } from '../file/database-file.ts'

/** All pages in one step: with smaller steps each concurrent write would restart the copy, possibly forever. */
const allPages = 0x7fffffff

/**
 * Copies a consistent snapshot of a store file. The copy is private from its first byte, and synced. Returns the first
 * problem that SQLite finds in the copy, or null.
 */
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

export async function syncFile(path: string): Promise<void> {
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
export function findIntegrityProblem(database: DatabaseSync): string | null {
  const message = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
  return message === 'ok' ? null : String(message)
}
