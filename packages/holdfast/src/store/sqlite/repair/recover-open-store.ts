import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorMessage, type Fault, HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectorySync } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryPath } from '../../disk.ts'
import { lostFileFault, storageFault } from '../../storage-fault.ts'
import { untilFree } from '../files/busy-retry.ts'
import { openForReading, prepareStoreFile, recoveredMark, syncFileSync } from '../files/database-file.ts'
import type { FileLoss } from '../files/held-files.ts'
import { copyRows } from './copy-rows.ts'

/** Of a truncated log, SQLite's cache may have the only copy of a page. It must not drop one to read another. */
const recoveryCacheKiB = 512 * 1024

type Recovery = {
  /** Says what happened and where the records are. */
  readonly fault: Fault
  /** True if the files with the store's paths have all records again, so that it can be opened again. */
  readonly isInPlace: boolean
}

/** Saves what an open connection still has of a store whose files were changed, and closes it. */
export function recoverOpenStore(path: string, database: DatabaseSync, loss: FileLoss): Recovery {
  try {
    if (loss === 'log_removed' && copyLogIntoFile(path, database)) {
      database.close()
      return { fault: lostFileFault(path, loss, null, `sqlite:${path}`), isInPlace: true }
    }
    const draft = saveRows(path, database, loss)
    closeWithoutCheckpoint(path, database)
    if (loss !== 'log_truncated') {
      return { fault: lostFileFault(path, loss, linkRecovered(draft, path), `sqlite:${path}`), isInPlace: false }
    }
    addRowsOfFiles(path, draft)
    replaceFiles(path, draft)
    return { fault: lostFileFault(path, loss, null, `sqlite:${path}`), isInPlace: true }
  } catch (error) {
    closeWithoutCheckpoint(path, database)
    const cause = errorMessage(error)
    return { fault: storageFault(path, loss, { error: `Its records could not be saved: ${cause}` }), isInPlace: false }
  }
}

/** Copies the log, which only this connection has, into the database file. Returns false if another log has begun. */
function copyLogIntoFile(path: string, database: DatabaseSync): boolean {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false
  // Truncated, so that no reader mistakes a frame of the old log for one of the next. A read that runs must end first.
  return untilFree(() => database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0)
}

/** Writes what the connection can read to a new file, and returns its path. */
function saveRows(path: string, database: DatabaseSync, loss: FileLoss): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = temporaryPath(path)
  if (loss === 'log_truncated' || !copyWhole(database, draft)) {
    database.exec(`pragma cache_size = -${recoveryCacheKiB}`)
    const refusal = prepareStoreFile(draft)
    if (refusal !== null) throw new HoldfastError(refusal)
    expectIntact(path, copyRows(database, draft))
  }
  syncFileSync(draft)
  return draft
}

function copyWhole(database: DatabaseSync, to: string): boolean {
  try {
    database.prepare('vacuum into ?').run(to)
    chmodSync(to, 0o600)
    using copy = new DatabaseSync(to)
    copy.exec('pragma journal_mode = wal') // like any store: moved to its place, it opens
    return true
  } catch {
    rmSync(to, { force: true })
    return false
  }
}

function expectIntact(path: string, problem: string | null): void {
  if (problem !== null) throw new HoldfastError(storageFault(path, 'damaged', { error: problem }))
}

/** Adds rows that only the files have: an older page of theirs may hold records of a page that was lost. */
function addRowsOfFiles(path: string, draft: string): void {
  const files = temporaryPath(path)
  try {
    copyFileSync(path, files)
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${files}-wal`)
    using older = new DatabaseSync(files)
    expectIntact(path, copyRows(older, draft))
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    // The files cannot be read by themselves: the connection had all there is.
  } finally {
    for (const left of [files, `${files}-wal`, `${files}-shm`]) rmSync(left, { force: true })
  }
  using copy = new DatabaseSync(draft)
  copy.exec(`update session set head = max(head, (select max(seq) from record where record.sid = session.sid))
    where exists (select 1 from record where record.sid = session.sid)`)
}

/** Moves the old files to the quarantine and the new one to their place. */
function replaceFiles(path: string, draft: string): void {
  syncFileSync(draft)
  const aside = `${path}.quarantine`
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  const mark = basename(draft).slice(basename(path).length)
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, join(aside, `${basename(path)}${mark}${suffix}`))
  }
  renameSync(draft, path)
  syncDirectorySync(aside)
  syncDirectorySync(dirname(path))
}

/** Gives the file the first unused name `….recovered-1`, `-2` and so on. Returns that name. */
function linkRecovered(draft: string, path: string): string {
  for (let number = 1; ; number++) {
    const name = `${path}${recoveredMark}${number}`
    try {
      linkSync(draft, name)
      rmSync(draft)
      syncDirectorySync(dirname(path))
      return name
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error
    }
  }
}

/** The last connection that may write copies the log into the file when it closes. Of a damaged log it must not. */
function closeWithoutCheckpoint(path: string, database: DatabaseSync): void {
  let guard: DatabaseSync | null = null
  try {
    guard = openForReading(path)
    guard.prepare('select 1 from sqlite_schema').get()
  } catch {
    // It holds its lock all the same, or there is no file.
  }
  try {
    if (database.isOpen) database.close()
  } finally {
    if (guard?.isOpen) guard.close()
  }
}
