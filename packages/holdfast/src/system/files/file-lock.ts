import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tighten } from './private-directory.ts'

/** An exclusive lock on a file. The system releases it when the process ends. */
export interface FileLock {
  release(): void
}

/** SQLite's code for a file that another process has locked. */
const busy = 5

/**
 * Locks a file for this process; returns null if another process holds it. Uses an operating system lock through SQLite
 * on an empty file, because Node has no file locks. It ends only with the process, so a paused process keeps it. Nothing
 * else in this process may open the file: closing any descriptor of it releases the lock.
 */
export function lockFile(path: string): FileLock | null {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('pragma journal_mode = memory; begin exclusive') // writes nothing, so it creates no journal file
    tighten(path, 0o600)
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (isBusy(error)) return null
    throw error
  }
}

/** Returns whether another process holds the lock of a file. A process must not ask that of a lock it may hold itself. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  const database = new DatabaseSync(path, { timeout: 0, readOnly: true })
  try {
    database.exec('select count(*) from sqlite_schema') // needs a shared lock for a moment
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    database.close()
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && error.errcode === busy
