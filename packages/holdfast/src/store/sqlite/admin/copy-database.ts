import { chmodSync, closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { findFileFault, openForReading } from '../file/database-file.ts'

/** All pages in one step: with smaller steps each concurrent write would restart the copy, possibly forever. */
const allPages = 0x7fffffff

/** Copies a consistent snapshot of a store file. The copy is private from its first byte, and synced. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const refusal = findFileFault(from)
  if (refusal !== null) throw new HoldfastError(refusal)
  closeSync(openSync(to, 'wx', 0o600))
  chmodSync(to, 0o600) // regardless of the umask
  const database = openForReading(from)
  try {
    await backup(database, to, { rate: allPages })
  } finally {
    database.close()
  }
  removeOwners(to)
  await using file = await open(to, 'r+')
  await file.sync()
}

/** The sessions of the copy have no owner, even if the owner of the original is alive. */
function removeOwners(path: string): void {
  const database = new DatabaseSync(path)
  try {
    database.exec(`
      pragma journal_mode = delete;
      begin;
      update session set owner = null, epoch = epoch + 1 where owner is not null;
      delete from node;
      commit;
      pragma journal_mode = wal;
    `)
  } finally {
    database.close()
  }
}

/** Returns the first problem that SQLite finds in a file, or null. */
export function findIntegrityProblem(path: string): string | null {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const message = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
    return message === 'ok' ? null : String(message)
  } finally {
    database.close()
  }
}
