import { closeSync, openSync, type Stats, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { storageFault } from '../../storage-fault.ts'
import { createLogFrames } from './log-frames.ts'

/**
 * What happened to the files of an open store: the database was moved, removed, replaced or truncated; its write-ahead
 * log (or the index of it) was moved, removed or replaced; or the log was truncated or overwritten.
 */
export type FileLoss = 'replaced' | 'log_removed' | 'log_truncated'

const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })
const isSame = (one: Stats | undefined, other: Stats | undefined): boolean =>
  one?.ino === other?.ino && one?.dev === other?.dev

/**
 * Remembers the files of a connection that has already read from them: SQLite uses the files it opened, wherever they
 * are by now. Returns a function that finds what happened to them since.
 */
export function rememberFiles(path: string): (logBytesMin?: number) => FileLoss | null {
  const [main, log, index] = [statOf(path), statOf(`${path}-wal`), statOf(`${path}-shm`)]
  // Another connection of this process still has the file that was removed, and SQLite shares it with this one.
  if (log !== undefined && index === undefined) throw new HoldfastError(storageFault(path, 'log_removed'))
  let bytes = main?.size ?? 0
  return (logBytesMin = 0) => {
    const found = statOf(path)
    // Holdfast never shrinks the file: if it is smaller, another program truncated it.
    if (found === undefined || !isSame(found, main) || found.size < bytes) return 'replaced'
    bytes = found.size
    const foundLog = statOf(`${path}-wal`)
    if (!isSame(foundLog, log) || !isSame(statOf(`${path}-shm`), index)) return 'log_removed'
    return (foundLog?.size ?? 0) < logBytesMin ? 'log_truncated' : null
  }
}

/** A commit this soon after another is not preceded by a check: the one after it finds the same. */
const freshMs = 2

/** The files of a store that a connection writes. Only what is in the files with these paths survives the process. */
export interface HeldFiles {
  /** Returns what happened to a file since it was opened, or null. */
  findLoss(): FileLoss | null
  /** Does the same after a commit, and reads its frames back from the log. */
  findLossAfterCommit(): FileLoss | null
  close(): void
}

export function holdFiles(path: string, database: DatabaseSync): HeldFiles {
  const findMoved = rememberFiles(path)
  // SQLite takes no locks on this file, so closing a descriptor drops none.
  const file = openSync(`${path}-wal`, 'r')
  const frames = createLogFrames(file)
  frames.follow()
  let checkedAtMs = Number.NEGATIVE_INFINITY

  function findLoss(): FileLoss | null {
    return performance.now() - checkedAtMs < freshMs ? null : findLossNow()
  }

  function findLossNow(): FileLoss | null {
    const moved = findMoved(frames.bytes())
    return moved === 'log_truncated' ? findTruncation(true) : moved
  }

  function findLossAfterCommit(): FileLoss | null {
    const loss = findLossNow() ?? findLostFrames()
    checkedAtMs = performance.now()
    return loss
  }

  function findLostFrames(): FileLoss | null {
    const before = frames.count()
    if (!frames.follow()) return findTruncation(true)
    // Nothing was written, or what was written is not there.
    return frames.count() === before ? findTruncation(false) : null
  }

  /** Another process may truncate the log itself, after it copied all of it. Then SQLite knows of no more frames. */
  function findTruncation(hasLostFrames: boolean): FileLoss | null {
    const expected = countFrames(database)
    if (expected === null) return hasLostFrames ? 'log_truncated' : null
    frames.reset()
    frames.follow()
    return frames.count() < expected ? 'log_truncated' : null
  }

  return { findLoss, findLossAfterCommit, close: () => closeSync(file) }
}

/** Returns how many frames SQLite has committed to its log. Null before SQLite 3.51, which would copy the log instead. */
function countFrames(database: DatabaseSync): number | null {
  const version = String(database.prepare('select sqlite_version() as version').get()?.['version'])
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < 3 || (major === 3 && minor < 51)) return null
  return Number(database.prepare('pragma wal_checkpoint(noop)').get()?.['log'] ?? 0)
}
