import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isStorageFailure } from '../../storage-fault.ts'

/**
 * Notes whether SQLite keeps a log beside a file, before anyone here reads it. What it returns is for when all have: a
 * reader makes a log where there was none, and only a writer that closes last takes it away. Whether it is the last,
 * SQLite knows by its locks: the log of another process stays.
 */
export function noteBeside(path: string): () => void {
  const isOpenElsewhere = existsSync(`${path}-wal`) || existsSync(`${path}-shm`)
  return () => {
    if (isOpenElsewhere || !existsSync(`${path}-wal`) || (statSync(path).mode & 0o200) === 0) return
    try {
      const database = new DatabaseSync(path, { timeout: 0 })
      try {
        database.prepare('select 1 from sqlite_schema limit 1').get()
      } finally {
        database.close()
      }
    } catch (error) {
      // Busy, not ours to write, or damaged: an empty log left behind harms nobody.
      if (!isStorageFailure(error)) throw error
    }
  }
}
