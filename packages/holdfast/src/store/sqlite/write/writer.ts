import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf, isBusy, isFull, isStorageFailure, storageFault } from '../../storage-fault.ts'
import { whileBusy } from '../file/busy-retry.ts'
import { findFileFault, openForWriting, prepareStoreFile } from '../file/database-file.ts'
import { type Changes, runCall, type StoreChange } from '../rows/messages.ts'
import { createIndexFollower, type IndexFollower } from '../search/index-follower.ts'
import { isIndexDamage } from '../search/index-tables.ts'
import { createWordIndex, type WordIndex } from '../search/word-index.ts'
import { createCursorWriter } from './cursor-writer.ts'
import { createRecordWriter } from './record-writer.ts'
import { createSessionRemover } from './remove-sessions.ts'
import { createRowWriter } from './row-writer.ts'

export type WriterOptions = {
  readonly path: string
  /** The maximum size of the file in pages. A test uses it to fill a disk. */
  readonly pagesMax?: number | undefined
}

export interface Writer {
  /** Makes a group of changes in one transaction. Returns the answers in order, once the commit is synced. */
  run(changes: readonly StoreChange[]): readonly Result<unknown>[]
  /** Does background work between groups, for a few milliseconds. Returns in how many milliseconds to call it again. */
  rest(): number
  close(): void
}

type Open = {
  readonly database: DatabaseSync
  readonly inode: number
  readonly changes: Changes
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly index: WordIndex
  readonly follower: IndexFollower
  /** When the path was last checked to lead to this file, and the file's size then. */
  checkedAtMs: number
  bytes: number
}

const checkEveryMs = 20

/** Writes the store file, as the only writer of this process. Synchronous: it runs in a worker. */
export function createWriter(
  { path, pagesMax }: WriterOptions,
  openDatabase: (path: string, pagesMax?: number) => DatabaseSync = openForWriting,
): Writer {
  let open: Open | null = null
  let hasFailed = false
  let hasResetIndex = false

  function run(requests: readonly StoreChange[]): readonly Result<unknown>[] {
    try {
      const refusal = requests.some(([name]) => name === 'open') ? prepareStoreFile(path) : null
      if (refusal !== null) throw new HoldfastError(refusal)
      open ??= reopen()
      const answers = commitGroup(open, requests)
      open.follower.wake()
      expectInPlace(open)
      hasResetIndex = false
      return answers
    } catch (error) {
      return failed(requests, error)
    }
  }

  /** Writes to a moved or deleted file are lost. Checked every 20 ms, because a check costs 5 % of a commit. */
  function expectInPlace(held: Open): void {
    const now = performance.now()
    if (now - held.checkedAtMs < checkEveryMs) return
    const found = statSync(path, { throwIfNoEntry: false })
    // Holdfast never shrinks the file: if it is smaller, another program truncated it.
    if (found?.ino !== held.inode || found.size < held.bytes) throw new HoldfastError(storageFault(path, 'replaced'))
    held.bytes = found.size
    held.checkedAtMs = now
  }

  function reopen(): Open {
    const refusal = findFileFault(path)
    if (refusal !== null) throw new HoldfastError(refusal)
    const { ino: inode, size: bytes } = statSync(path)
    const database = openDatabase(path, pagesMax)
    try {
      if (hasFailed) checkpointAfterFailedSync(database)
      hasFailed = false
      const [begin, commit] = [database.prepare('begin immediate'), database.prepare('commit')]
      const index = createWordIndex(database)
      const follower = createIndexFollower(database, index)
      follower.wake()
      const changes = createChangesWithIndex(database, index)
      return { database, inode, changes, begin, commit, index, follower, bytes, checkedAtMs: performance.now() }
    } catch (error) {
      database.close()
      throw error
    }
  }

  function rest(): number {
    try {
      return open?.follower.rest() ?? Number.POSITIVE_INFINITY
    } catch (error) {
      // The next change reports the failure; a failed handle is never used again.
      if (isStorageFailure(error)) abandon(error)
      return Number.POSITIVE_INFINITY
    }
  }

  function failed(requests: readonly StoreChange[], error: unknown): readonly Result<unknown>[] {
    if (open !== null && !hasResetIndex && isIndexDamage(error)) {
      hasResetIndex = resetIndex(open.database, open.index)
      if (hasResetIndex) return run(requests)
    }
    const isRefusal = error instanceof HoldfastError
    if (isRefusal || isStorageFailure(error)) {
      // A busy file is intact: only the wait was too long.
      if (isRefusal || !isBusy(error)) abandon(error)
      const answer = refuse(isRefusal ? error.toFault() : faultOf(error, path))
      return requests.map(() => answer)
    }
    // A bug broke the group: run each change on its own, so that only the broken one fails.
    if (requests.length > 1) return requests.flatMap((change) => run([change]))
    return [refuse(faultOf(error, path))]
  }

  /** After a full disk the log is not checkpointed: that would use the space that someone frees. */
  function abandon(error: unknown): void {
    hasFailed ||= !isFull(error)
    close()
  }

  /** After a failed sync the kernel reports lost pages as clean, so the handle is never used again. */
  function close(): void {
    try {
      open?.database.close()
    } catch {
      // It has failed already; it only must not be used again.
    }
    open = null
  }

  return { run, rest, close }
}

function commitGroup(open: Open, requests: readonly StoreChange[]): readonly Result<unknown>[] {
  const { database, changes, begin, commit } = open
  whileBusy(() => begin.run())
  try {
    const answers = requests.map((change) => runCall(changes, change) as Result<unknown>)
    commit.run()
    return answers
  } catch (error) {
    if (database.isTransaction) rollBack(database)
    throw error
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('rollback')
  } catch {
    // The first error is the one to report; its handler closes the connection.
  }
}

/**
 * After a failed sync the write-ahead log may contain frames that never reached the disk; frames appended after them
 * would be lost too. Copying the whole log into the main file, synced, makes the readable state the stored one.
 */
function checkpointAfterFailedSync(database: DatabaseSync): void {
  whileBusy(() => database.prepare('pragma wal_checkpoint(truncate)').get())
}

/** Removing a record removes its words. If the index is damaged, it is emptied and the failed group runs again. */
function resetIndex(database: DatabaseSync, index: WordIndex): boolean {
  try {
    whileBusy(() => database.exec('begin immediate'))
    index.reset()
    database.exec('commit')
    return true
  } catch {
    if (database.isTransaction) rollBack(database)
    return false
  }
}

function createChangesWithIndex(database: DatabaseSync, index: WordIndex): Changes {
  try {
    return createChanges(database, index)
  } catch (error) {
    if (!isIndexDamage(error) || !resetIndex(database, index)) throw error
    return createChanges(database, index)
  }
}

function createChanges(database: DatabaseSync, index: WordIndex): Changes {
  const cursors = createCursorWriter(database)
  return {
    ...createRecordWriter(database),
    ...createRowWriter(database),
    ...createSessionRemover(database, cursors),
    ...cursors,
    open: () => done,
    extendIndex: (forMs) => ok(!index.isBehind() || index.extend(performance.now() + forMs)),
    resetIndex() {
      index.reset()
      return done
    },
  }
}
