import { closeSync, existsSync, openSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { storageFault } from '../../storage-fault.ts'
import { createLogChain } from './log-chain.ts'
import { createLogFrames } from './log-frames.ts'

/**
 * What happened to the files of an open store: the database was moved, removed, replaced or truncated; its write-ahead
 * log (or the index of it) was moved, removed or replaced; or the log was truncated or overwritten.
 */
export type FileLoss = 'replaced' | 'log_removed' | 'log_truncated'

const isSame = (one: Stats | undefined, other: Stats | undefined): boolean =>
  one?.ino === other?.ino && one?.dev === other?.dev
const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })

/** Says which file a store has, to another thread too. A file that is later at its path may be another store. */
export interface FileIdentity {
  readonly shared: SharedArrayBuffer
  /** Notes the file that is at a path now. */
  note(path: string): void
  isOf(file: Stats | undefined): boolean
}

export function createFileIdentity(shared = new SharedArrayBuffer(16)): FileIdentity {
  const known = new Float64Array(shared)
  return {
    shared,
    note(path) {
      const file = statOf(path)
      known.set([file?.dev ?? 0, file?.ino ?? 0])
    },
    isOf: (file) => file !== undefined && file.dev === known[0] && file.ino === known[1],
  }
}

/** The files of a connection that has already read from them: SQLite uses what it opened, wherever that is by now. */
export interface OpenedFiles {
  /** Returns what happened to the files since, or null. */
  findMoved(): FileLoss | null
  close(): void
}

/** `identity` is that of the file which must be there. */
export function rememberFiles(path: string, identity?: FileIdentity): OpenedFiles {
  const [main, index] = [statOf(path), statOf(`${path}-shm`)]
  if (identity?.isOf(main) === false) throw new HoldfastError(storageFault(path, 'replaced'))
  const log = rememberLog(`${path}-wal`)
  // Another connection of this process still has the file that was removed, and SQLite shares it with this one.
  if (log.exists && index === undefined) {
    log.close()
    throw new HoldfastError(storageFault(path, 'log_removed'))
  }
  let bytes = main?.size ?? 0
  return {
    findMoved() {
      const found = statOf(path)
      // Holdfast never shrinks the file: if it is smaller, another program truncated it.
      if (found === undefined || !isSame(found, main) || found.size < bytes) return 'replaced'
      bytes = found.size
      return log.isAtPath() && isSame(statOf(`${path}-shm`), index) ? null : 'log_removed'
    },
    close: log.close,
  }
}

/**
 * Remembers the file of a write-ahead log. On Linux a `stat` of it makes the next commit a third slower: a file whose
 * times were asked for gets a new time with the next write, and that must be synced too. The name that the system keeps
 * for an open file tells as much: it changes when the file is moved, removed or replaced.
 */
function rememberLog(path: string): { readonly exists: boolean; isAtPath(): boolean; close(): void } {
  const file = openIfPresent(path)
  if (file === null) return { exists: false, isAtPath: () => !existsSync(path), close() {} }
  const link = `/proc/self/fd/${file}`
  const close = () => closeSync(file)
  if (existsSync(link)) {
    const name = readlinkSync(link)
    return { exists: true, isAtPath: () => readlinkSync(link) === name, close }
  }
  const stats = statOf(path)
  return { exists: true, isAtPath: () => isSame(statOf(path), stats), close }
}

// SQLite takes no locks on this file, so closing a descriptor drops none.
function openIfPresent(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** A check of all files is repeated after so long, even if nothing was moved in their folder. */
const freshMs = 10
/** A folder that changed more recently may change again without getting another time: its clock is coarse. */
const coarseMs = 100

/** While a log is written, all its checksums are verified once in so long, in slices. */
const verifyEveryMs = 1000
const verifySliceMs = 4
/** SQLite copies a log of 2000 frames into the database file (`wal_autocheckpoint`). */
const nearCheckpointFrames = 1500
/** Under load a log is full several times a second. It is not verified if the last verification is more recent. */
const nearCheckpointMs = 250
/** Another process that commits a large change corrects the checksums of its frames last. Damage is still there later. */
const secondLookMs = 100

/** The files of a store that a connection writes. Only what is in the files with these paths survives the process. */
export interface HeldFiles {
  /**
   * Returns whether a file was moved, removed or replaced since it was opened, or null. Does not look into the log. `isSure`
   * looks also if it has just looked: a file may be truncated without a change of its folder.
   */
  findMoved(isSure?: boolean): FileLoss | null
  /** Returns what happened to a file since it was opened, or null. */
  findLoss(): FileLoss | null
  /** Does the same after a commit, and reads its frames back from the log. */
  findLossAfterCommit(): FileLoss | null
  /** Verifies the log in the background, for a few milliseconds. Also returns in how many milliseconds to call it again. */
  verifyLog(): { readonly loss: FileLoss | null; readonly againMs: number }
  /** Does all of a verification that is due. Blocks its thread. */
  verifyWholeLog(): FileLoss | null
  close(): void
}

export function holdFiles(path: string, database: DatabaseSync): HeldFiles {
  const opened = rememberFiles(path)
  const file = openSync(`${path}-wal`, 'r')
  const frames = createLogFrames(file)
  frames.follow()
  const verifier = createLogVerifier(file, frames)
  const folderPath = dirname(path)
  let folder: Stats | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let isNear = false

  /** A file cannot be moved, removed or replaced without a change of its folder: one look at that is cheaper. */
  function findMoved(isSure = false): FileLoss | null {
    const [found, nowMs] = [statOf(folderPath), performance.now()]
    const isUnchanged = folder !== undefined && isSame(found, folder) && found?.mtimeMs === folder.mtimeMs
    if (!isSure && isUnchanged && nowMs - checkedAtMs < freshMs) return null
    folder = found !== undefined && Date.now() - found.mtimeMs > coarseMs ? found : undefined
    checkedAtMs = nowMs
    return opened.findMoved()
  }

  function findLoss(): FileLoss | null {
    if (performance.now() - checkedAtMs < freshMs) return null
    return findMoved() ?? (frames.areThere() ? null : findTruncation(true))
  }

  function findLossAfterCommit(): FileLoss | null {
    verifier.wake()
    return findMoved() ?? findLostFrames() ?? (isCheckpointNear() ? verifier.verifyBeforeCheckpoint() : null)
  }

  /** Returns true once for each log: a checkpoint copies damage into the database, and the next log hides it. */
  function isCheckpointNear(): boolean {
    const hasBeenNear = isNear
    isNear = frames.count() >= nearCheckpointFrames
    return isNear && !hasBeenNear
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

  function close(): void {
    opened.close()
    closeSync(file)
  }

  const { verifyLog, verifyWholeLog } = verifier
  return { findMoved, findLoss, findLossAfterCommit, verifyLog, verifyWholeLog, close }
}

/** Decides when the log is verified: once after each commit or group of commits, and no more often than needed. */
function createLogVerifier(
  file: number,
  frames: ReturnType<typeof createLogFrames>,
): Pick<HeldFiles, 'verifyLog' | 'verifyWholeLog'> & { wake(): void; verifyBeforeCheckpoint(): FileLoss | null } {
  const chain = createLogChain(file)
  let isDue = false
  let nextMs = Number.NEGATIVE_INFINITY
  let brokenSinceMs: number | null = null

  function verifyLog(sliceMs = verifySliceMs): ReturnType<HeldFiles['verifyLog']> {
    const nowMs = performance.now()
    if (!isDue) return { loss: null, againMs: Number.POSITIVE_INFINITY }
    if (nowMs < nextMs) return { loss: null, againMs: nextMs - nowMs }
    const state = chain.verify(frames.known(), nowMs + sliceMs)
    if (state === 'unfinished') return { loss: null, againMs: 0 }
    if (state === 'broken' && brokenSinceMs !== null)
      return { loss: 'log_truncated', againMs: Number.POSITIVE_INFINITY }
    brokenSinceMs = state === 'broken' ? nowMs : null
    isDue = state === 'broken'
    nextMs = nowMs + (isDue ? secondLookMs : verifyEveryMs)
    return { loss: null, againMs: isDue ? secondLookMs : Number.POSITIVE_INFINITY }
  }

  function verifyWholeLog(): FileLoss | null {
    nextMs = brokenSinceMs === null ? Number.NEGATIVE_INFINITY : nextMs
    for (;;) {
      const { loss, againMs } = verifyLog(Number.POSITIVE_INFINITY)
      if (loss !== null || againMs === Number.POSITIVE_INFINITY) return loss
      Atomics.wait(clock, 0, 0, againMs)
    }
  }

  return {
    verifyLog: () => verifyLog(),
    verifyWholeLog,
    verifyBeforeCheckpoint: () =>
      nextMs - verifyEveryMs + nearCheckpointMs > performance.now() ? null : verifyWholeLog(),
    wake() {
      isDue = true
    },
  }
}

const clock = new Int32Array(new SharedArrayBuffer(4))

/** Returns how many frames SQLite has committed to its log. Null before SQLite 3.51, which would copy the log instead. */
function countFrames(database: DatabaseSync): number | null {
  const version = String(database.prepare('select sqlite_version() as version').get()?.['version'])
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < 3 || (major === 3 && minor < 51)) return null
  return Number(database.prepare('pragma wal_checkpoint(noop)').get()?.['log'] ?? 0)
}
