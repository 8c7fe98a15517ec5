import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ensurePrivateDirectory, tighten, tightenIfPresent } from '../../../system/files/private-directory.ts'
import { syncDirectorySync } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { networkFileSystemOf, temporaryPath } from '../../disk.ts'
import { faultOf, recoveredFault, storageFault } from '../../storage-fault.ts'
import { applicationId, schemaVersion, tables } from '../rows/schema.ts'
import { whileBusy } from './busy-retry.ts'
import { type UpgradeOptions, upgradeStore } from './upgrade-store.ts'

/** Marks the name of a copy that was saved when an open store lost its file. */
export const recoveredMark = '.recovered-'

/** Returns a fault if the file is not a store that this version can open. Takes no locks and changes nothing. */
export function findFileFault(path: string): Fault | null {
  try {
    const header = statSync(path).isFile() ? readStoreHeader(path) : null
    if (header?.applicationId !== applicationId) return findSavedCopy(path) ?? notAStore(path)
    return header.version > schemaVersion ? tooNew(path, header.version) : null
  } catch (error) {
    return faultOf(error, path)
  }
}

/** Returns a fault that names the newest copy of a store's records, if one was saved when the store lost its file. */
export function findSavedCopy(path: string): Fault | null {
  const saved = listSavedCopies(path).at(-1)
  return saved === undefined ? null : recoveredFault(path, saved)
}

/** Returns the paths of all copies of a store's records that were saved when the store lost its files, the newest last. */
export function listSavedCopies(path: string): readonly string[] {
  if (!existsSync(dirname(path))) return []
  const begin = `${basename(path)}${recoveredMark}`
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(begin) && !/-(wal|shm)$/.test(name))
  // By age and not by number: a copy takes the first number that is free, also one of an older copy that was moved away.
  return names
    .map((name) => join(dirname(path), name))
    .map((saved) => ({ saved, ms: statSync(saved, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => one.ms - other.ms || one.saved.localeCompare(other.saved))
    .map(({ saved }) => saved)
}

/** Creates the store or upgrades it, and makes its files private. Safe if another process does the same. */
export function prepareStoreFile(path: string, options: UpgradeOptions = {}): Fault | null {
  try {
    const directory = dirname(resolve(path))
    ensurePrivateDirectory(directory)
    const network = networkFileSystemOf(directory)
    if (network !== null) return storageFault(path, 'network_file_system', { fileSystem: network })
    if (!existsSync(path)) {
      // An empty store would hide that the records are in another file.
      const saved = findSavedCopy(path)
      if (saved !== null) return saved
      // SQLite would replay the orphaned log into the new file.
      if (existsSync(`${path}-wal`)) return notAStore(`${path}-wal`)
      createStoreFile(path, directory)
    }
    const refusal = findFileFault(path)
    if (refusal !== null) return refusal
    // Root can write any file; respect the mode all the same.
    if ((statSync(path).mode & 0o200) === 0) return storageFault(path, 'read_only')
    accessSync(path, constants.W_OK)
    tighten(path, 0o600)
    // SQLite of another process removes these two when it closes.
    for (const file of [`${path}-wal`, `${path}-shm`]) tightenIfPresent(file, 0o600)
    const header = readStoreHeader(path)
    return header !== null && header.version < schemaVersion ? upgradeStore(path, options) : null
  } catch (error) {
    return faultOf(error, path)
  }
}

/** Opens a prepared store to write. Every commit is synced before it returns. Throws errors of SQLite. */
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

/** Opens a store to read. Such a connection never writes to the file and does not checkpoint when it closes. */
export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: 0 })
}

/** Creates the file under another name, then links it: a crash leaves no partial store, two processes create one. */
function createStoreFile(path: string, directory: string): void {
  const draft = temporaryPath(path)
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
    syncDirectorySync(directory)
  } finally {
    for (const file of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(file, { force: true })
  }
}

export function syncFileSync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function linkIfAbsent(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error
  }
}

const notAStore = (path: string): Fault =>
  fault('not_a_store', `${path} is not a Holdfast store. It was not changed. If it was one, run holdfast doctor.`, {
    path,
  })

const tooNew = (path: string, version: number): Fault =>
  fault(
    'store_too_new',
    `${path} was written by a newer Holdfast (store version ${version}; this one supports up to ${schemaVersion}). Upgrade Holdfast.`,
    { path, version, known: schemaVersion },
  )

/** The descriptors stay open: closing one would drop the locks of every connection of this process to the file. */
const openFiles = new Map<string, { readonly inode: number; readonly file: number }>()

/** Reads the bytes itself: during a checkpoint the main file is not a valid database. Null: not a SQLite file. */
export function readStoreHeader(path: string): { readonly applicationId: number; readonly version: number } | null {
  const header = readHeaderBytes(path)
  if (header.length < headerBytes || !header.toString('latin1').startsWith('SQLite format 3\0')) return null
  return { applicationId: header.readInt32BE(68), version: header.readInt32BE(60) }
}

const headerBytes = 100

/** Returns the first 100 bytes of a file, or fewer if it is shorter. */
export function readHeaderBytes(path: string): Buffer {
  const { ino: inode } = statSync(path)
  let known = openFiles.get(path)
  if (known?.inode !== inode) {
    known = { inode, file: openSync(path, 'r') }
    openFiles.set(path, known)
  }
  const header = Buffer.alloc(headerBytes)
  return header.subarray(0, readSync(known.file, header, { position: 0 }))
}
