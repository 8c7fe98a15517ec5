import { chmodSync, closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { openForReading, refusalOf } from '../file/database-file.ts'

/** All pages in one step: a writer that goes on meanwhile would make smaller steps begin anew, perhaps for ever. */
const allPages = 0x7fffffff

/** Copies a store file as it is at one moment. The copy is private from its first byte, and synced. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const refusal = refusalOf(from)
  if (refusal !== null) throw new HoldfastError(refusal)
  closeSync(openSync(to, 'wx', 0o600))
  chmodSync(to, 0o600) // whatever the umask
  const database = openForReading(from)
  try {
    await backup(database, to, { rate: allPages })
  } finally {
    database.close()
  }
  forgetOwners(to)
  await using file = await open(to, 'r+')
  await file.sync()
}

/** Nobody runs the copy: its sessions are free for whoever opens it, also where the owner of the original lives. */
function forgetOwners(path: string): void {
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

/** What SQLite finds wrong with a file, its first words; null when it is whole. */
export function integrityOf(path: string): string | null {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const said = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
    return said === 'ok' ? null : String(said)
  } finally {
    database.close()
  }
}
