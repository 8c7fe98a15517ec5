import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage, type Fault, fault } from '@holdfast/protocol/fault'
import { shellWord } from '../system/shell-word.ts'
import { type LossReason, type StoreReason, sentences } from '../system/storage-reasons.ts'
import { storageReason, systemErrorCode } from '../system/system-error.ts'

// Primary result codes of sqlite.org/rescode.html; an extended code has more detail in its higher bytes.
const reasonOf: Readonly<Record<number, StoreReason>> = {
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

/** Returns the primary SQLite result code of an error, or null if SQLite did not throw it. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode & 0xff
}

/** Returns whether another process has the file locked. */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5

/** Returns whether the disk was full. The write was rolled back, and no sync has failed. */
export const isFull = (error: unknown): boolean => sqliteCode(error) === 13

/** Returns whether the file or its disk failed, and not one request: the handle must not be used again. */
export const isStorageFailure = (error: unknown): boolean => {
  const code = sqliteCode(error)
  return code === null ? systemErrorCode(error) !== null : code in reasonOf
}

export function storageFault(path: string, reason: StoreReason, more?: Record<string, unknown>): Fault {
  return fault('storage_error', `The store at ${path} cannot be used: ${sentences[reason]}.`, { reason, ...more, path })
}

const losses: Readonly<Record<LossReason, string>> = {
  replaced: 'was moved, removed, replaced or truncated while it was open',
  log_removed: 'was left without its write-ahead log, which another program moved, removed or replaced',
  log_truncated: 'was left with a part of its write-ahead log, which another program truncated or overwrote',
}

/** Without its log, a store cannot be opened to read, and SQLite only says that it cannot. */
const mayBeLoss: ReadonlySet<unknown> = new Set([...Object.keys(losses), 'io', 'damaged'])

/** Returns whether another program may have changed the files of an open store, so that its writer must check them. */
export const isPossibleLoss = ({ details }: Fault): boolean => mayBeLoss.has(details?.['reason'])

/** Returns whether the writer of a store does not have its file, and could not put its records there again. */
export const isLostFile = ({ details }: Fault): boolean =>
  Object.hasOwn(losses, String(details?.['reason'])) && details?.['saved'] !== details?.['path']

/** The command that puts the records of a saved copy back. It names the store, because another one may be the default. */
export const repairCommand = (store: string): string => `holdfast doctor --repair --store ${shellWord(store)}`

/** Says that a SQLite store lost its file while it was open, and that its records are in `saved`. */
export function recoveredFault(path: string, saved: string): Fault {
  const message = `The store at ${path} lost its file while it was open. Its records were saved to ${saved}. Run ${repairCommand(`sqlite:${path}`)} to put them back. To do without them, move ${saved} elsewhere.`
  return fault('storage_error', message, { reason: 'recovered', saved, path })
}

/**
 * Says what happened to an open store, and where its records are: in `saved` or, if that is null, in its file again.
 * `store` is its URL.
 */
export function lostFileFault(path: string, reason: LossReason, saved: string | null, store: string): Fault {
  const where =
    saved === null
      ? 'Its records were saved to its file, and it can be used again.'
      : `Its records were saved to ${saved}. Stop Holdfast, run ${repairCommand(store)} to put them back, and start it again.`
  const details = { reason, saved: saved ?? path, path }
  return fault('storage_error', `The store at ${path} ${losses[reason]}. ${where}`, details)
}

/** Converts an error of SQLite or the file system to a fault with its reason, code and path. */
export function faultOf(error: unknown, path: string): Fault {
  const code = sqliteCode(error)
  const message = errorMessage(error)
  if (code !== null && error instanceof Error && 'errcode' in error) {
    const reason = isMissingTable(code, message) ? 'lacks_table' : (reasonOf[code] ?? 'io')
    return storageFault(path, reason, { sqlite: error.errcode, error: message })
  }
  const errno = systemErrorCode(error)
  if (errno !== null) {
    const blocking = findFileInPath(path)
    if (blocking === null) return storageFault(path, storageReason(errno), { errno, error: message })
    const why = `The store at ${path} cannot be used: ${blocking} is not a directory.`
    return fault('storage_error', why, { reason: 'not_a_directory', errno, error: message, path })
  }
  return fault('internal', `The store failed: ${message}`, { path })
}

const logicError = 1

/** SQLite has no separate code for a missing table; only the message distinguishes it from a wrong statement. */
const isMissingTable = (code: number, message: string): boolean =>
  code === logicError && /\bno such (table|column)\b/.test(message)

/** Returns a file where a directory of the path should be, or null. */
function findFileInPath(path: string): string | null {
  let part = dirname(path)
  while (part !== dirname(part) && !existsSync(part)) part = dirname(part)
  return statSync(part, { throwIfNoEntry: false })?.isDirectory() === false ? part : null
}
