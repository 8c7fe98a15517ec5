import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { type StorageReason, storageReason, systemErrorCode } from '../system/system-error.ts'

type Reason = StorageReason | 'busy' | 'damaged' | 'lacks_table' | 'replaced' | 'network_file_system'

// Primary result codes of sqlite.org/rescode.html; the higher bytes of an extended code say more of the same.
const reasonOf: Readonly<Record<number, Reason>> = {
  5: 'busy',
  6: 'busy',
  7: 'io',
  8: 'read_only',
  10: 'io',
  11: 'damaged',
  13: 'disk_full',
  14: 'io',
  15: 'busy',
  23: 'read_only',
  26: 'damaged',
}

const sentence: Readonly<Record<Reason, string>> = {
  disk_full: 'the disk is full; make room on it',
  read_only: 'it may not be written; make it and its directory writable',
  busy: 'another process holds it',
  damaged: 'the file is damaged',
  lacks_table:
    'it lacks a table; one of an earlier version gets it when it is opened to write, of any other put a backup back',
  replaced: 'the file was moved, removed or replaced while it was open',
  network_file_system: 'it lies on a network file system, where neither locks nor syncs can be relied on',
  io: 'the disk failed; the system’s log may say why',
}

/** The primary SQLite result code of an error, or null when SQLite did not throw it. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode & 0xff
}

/** Whether all that is wrong is that another process holds the file. */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5

/** Whether all that is wrong is that a write found no room: it was rolled back, and no sync has failed. */
export const isFull = (error: unknown): boolean => sqliteCode(error) === 13

/** Whether the file or its disk failed, rather than one request: then nothing on this handle can be trusted. */
export const isStorageFailure = (error: unknown): boolean => {
  const code = sqliteCode(error)
  return code === null ? systemErrorCode(error) !== null : code in reasonOf
}

export function storageFault(path: string, reason: Reason, more?: Record<string, unknown>): Fault {
  return fault('storage_error', `The store at ${path} cannot be used: ${sentence[reason]}.`, { reason, ...more, path })
}

/** A thrown error of SQLite or the file system, as a fault with its reason, code and place. */
export function faultOf(error: unknown, path: string): Fault {
  const code = sqliteCode(error)
  const message = error instanceof Error ? error.message : String(error)
  if (code !== null && error instanceof Error && 'errcode' in error) {
    const reason = lacksTable(code, message) ? 'lacks_table' : (reasonOf[code] ?? 'io')
    return storageFault(path, reason, { sqlite: error.errcode, error: message })
  }
  const errno = systemErrorCode(error)
  if (errno !== null) {
    const inTheWay = fileInTheWay(path)
    if (inTheWay === null) return storageFault(path, storageReason(errno), { errno, error: message })
    const why = `The store at ${path} cannot be used: ${inTheWay} is not a directory.`
    return fault('storage_error', why, { reason: 'not_a_directory', errno, error: message, path })
  }
  return fault('internal', `The store failed: ${message}`, { path })
}

const logicError = 1

/** SQLite has no code of its own for it: only its words tell it from a mistake in a statement. */
const lacksTable = (code: number, message: string): boolean =>
  code === logicError && /\bno such (table|column)\b/.test(message)

/** What stands where a directory of the path should be, or null: it is likely what someone set by hand. */
function fileInTheWay(path: string): string | null {
  let part = dirname(path)
  while (part !== dirname(part) && !existsSync(part)) part = dirname(part)
  return statSync(part, { throwIfNoEntry: false })?.isDirectory() === false ? part : null
}
