import { accessSync, constants, existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Fault } from '@holdfast/protocol'
import { whileBusy } from './busy-retry.ts'
import { networkFileSystemOf } from './network-file-system.ts'
import { ensurePrivateDirectory, syncDirectory, tighten } from './private-file.ts'
import { applicationId, schemaVersion, tables } from './schema.ts'
import { faultOf, sqliteCode, storageFault } from './storage-fault.ts'

const sqliteNotADatabase = 26

/** Why the file at `path` is not a store we can use, or null. Looks without locks and changes nothing, not even beside it. */
export function refusalOf(path: string): Fault | null {
  try {
    if (!statSync(path).isFile()) return notAStore(path)
    const probe = openImmutable(path)
    try {
      if (numberOf(probe, 'application_id') !== applicationId) return notAStore(path)
      const version = numberOf(probe, 'user_version')
      return version > schemaVersion ? tooNew(path, version) : null
    } finally {
      probe.close()
    }
  } catch (error) {
    return sqliteCode(error) === sqliteNotADatabase ? notAStore(path) : faultOf(error, path)
  }
}

/** Makes an empty store where there is none, and private what is there. Idempotent, and safe against a second process. */
export function prepareStoreFile(path: string): Fault | null {
  try {
    const directory = dirname(resolve(path))
    ensurePrivateDirectory(directory)
    const network = networkFileSystemOf(directory)
    if (network !== null) return storageFault(path, 'network_file_system', { fileSystem: network })
    if (!existsSync(path)) {
      // SQLite would replay the orphan into whatever stands at this name.
      if (existsSync(`${path}-wal`)) return notAStore(`${path}-wal`)
      createStoreFile(path, directory)
    }
    const refusal = refusalOf(path)
    if (refusal !== null) return refusal
    // Root may write anything: a file nobody was meant to write is read-only for root too.
    if ((statSync(path).mode & 0o200) === 0) return storageFault(path, 'read_only')
    accessSync(path, constants.W_OK)
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) tighten(file, 0o600)
    return null
  } catch (error) {
    return faultOf(error, path)
  }
}

/** Opens a prepared store to write: every commit is synced before it returns. Throws what SQLite throws. */
export function openForWriting(path: string, pagesMax?: number): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false })
  try {
    whileBusy(() =>
      database.exec(`
        pragma synchronous = full;
        pragma fullfsync = 1;
        pragma checkpoint_fullfsync = 1;
        pragma wal_autocheckpoint = 2000;
        pragma cache_size = -16000;
      `),
    )
    if (pagesMax !== undefined) database.exec(`pragma max_page_count = ${pagesMax}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Opens a store to read. Such a connection never writes to the file, nor checkpoints when it closes. */
export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: 0 })
}

/**
 * Builds the file under another name and links it whole: a crash leaves no half-made store, two processes make one, and
 * an empty file at `path` is never ours.
 */
function createStoreFile(path: string, directory: string): void {
  const draft = `${path}.new-${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    const database = new DatabaseSync(draft)
    database.exec(`
      pragma auto_vacuum = 0;
      pragma application_id = ${applicationId};
      pragma user_version = ${schemaVersion};
      begin; ${tables} commit;
      pragma journal_mode = wal;
    `)
    database.close()
    tighten(draft, 0o600)
    linkIfAbsent(draft, path)
    syncDirectory(directory)
  } finally {
    for (const file of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(file, { force: true })
  }
}

function linkIfAbsent(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * Through SQLite and not `fs`: closing a descriptor of our own would drop the locks that another connection of this
 * process holds on the file. `immutable` takes no lock and makes no file beside it.
 */
function openImmutable(path: string): DatabaseSync {
  const url = pathToFileURL(resolve(path))
  url.search = 'immutable=1'
  return new DatabaseSync(url.href, { readOnly: true })
}

function numberOf(database: DatabaseSync, pragma: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`pragma ${pragma}`).get()?.[pragma] ?? 0)
}

const notAStore = (path: string): Fault => ({
  code: 'not_a_store',
  message: `${path} is not a Holdfast store; it was left as it is.`,
  details: { path },
})

const tooNew = (path: string, version: number): Fault => ({
  code: 'store_too_new',
  message: `${path} was written by a newer Holdfast (store version ${version}, this one knows ${schemaVersion}).`,
  details: { path, version, known: schemaVersion },
})
