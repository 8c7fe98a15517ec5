import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Fault, fault, HoldfastError } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf, isBusy, isFull, isStorageFailure } from '../../storage-fault.ts'
import { whileBusy } from '../files/busy-retry.ts'
import { findFileFault, openForReading, openForWriting, prepareStoreFile } from '../files/database-file.ts'
import { type FileLoss, type HeldFiles, holdFiles } from '../files/held-files.ts'
import { recoverOpenStore } from '../repair/recover-open-store.ts'
import { type Question, runCall, type StoreChange, type WriteRequests } from '../rows/requests.ts'
import { searchCursorName } from '../rows/schema.ts'
import { isIndexDamage } from '../search/index-tables.ts'
import { createIndexFollower, createWordIndex, type WordIndex } from '../search/word-index.ts'
import { createAnswers } from './answers.ts'
import { createRecordWriter } from './record-writer.ts'
import { createSessionRemover } from './remove-sessions.ts'
import { createRowWriter } from './row-writer.ts'
import { createSpendingWriter } from './spending-writer.ts'

export type WriterOptions = {
  readonly path: string
  /** The maximum size of the file in pages. A test uses it to fill a disk. */
  readonly pagesMax?: number | undefined
}

export interface Writer {
  /** Makes a group of changes in one transaction. Returns the answers in order, once the commit is synced. */
  run(changes: readonly StoreChange[]): readonly Result<unknown>[]
  /** Answers a question between groups, without a change. Refuses if it cannot: a reader reports why, see `createReader`. */
  answer(question: Question): Result<unknown>
  /** Does background work between groups, for a few milliseconds. Returns in how many milliseconds to call it again. */
  rest(): number
  close(): void
}

type Open = {
  readonly database: DatabaseSync
  readonly files: HeldFiles
  readonly changes: WriteRequests
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly index: WordIndex
  readonly follower: ReturnType<typeof createIndexFollower>
  readonly answer: Writer['answer']
}

/** Writes the store file, as the only writer of this process. Synchronous: it runs in a worker. */
export function createWriter(
  { path, pagesMax }: WriterOptions,
  openDatabase: (path: string, pagesMax?: number) => DatabaseSync = openForWriting,
): Writer {
  let open: Open | null = null
  let hasFailed = false
  let hasResetIndex = false
  /** Why this process does not use the store any more: its file is gone. */
  let lost: Fault | null = null
  /** A loss that was found between changes, and recovered. The next change reports it. */
  let unreported: Fault | null = null

  function run(requests: readonly StoreChange[]): readonly Result<unknown>[] {
    try {
      if (lost !== null) throw new HoldfastError(lost)
      if (unreported !== null && !requests.every(isBackgroundWork)) {
        const reported = unreported
        unreported = null
        throw new HoldfastError(reported)
      }
      const refusal = open === null && requests.some(([name]) => name === 'open') ? prepareStoreFile(path) : null
      if (refusal !== null) throw new HoldfastError(refusal)
      open ??= reopen()
      const loss = open.files.findLoss()
      if (loss !== null) {
        const fault = recover(open, loss)
        if (lost === null && requests.every(isBackgroundWork)) unreported = fault
        throw new HoldfastError(fault)
      }
      const answers = commitGroup(open, requests)
      open.follower.wake()
      hasResetIndex = false
      const lossSince = open.files.findLossAfterCommit()
      if (lossSince === null) return answers
      const fault = recover(open, lossSince)
      if (lost !== null) throw new HoldfastError(fault)
      // The file has this group too: to refuse what is on record would make a caller send it again.
      unreported = fault
      return answers
    } catch (error) {
      return failed(requests, error)
    }
  }

  function reopen(): Open {
    const opened = openFile(path, () => openDatabase(path, pagesMax), hasFailed)
    hasFailed = false
    return opened
  }

  /** Saves the records of a store whose files were changed by another program. The connection is closed. */
  function recover({ database, files }: Open, loss: FileLoss): Fault {
    files.close()
    open = null
    const recovered = recoverOpenStore(path, database, loss)
    if (!recovered.isInPlace) lost = recovered.fault
    return recovered.fault
  }

  function rest(): number {
    try {
      if (open === null) return Number.POSITIVE_INFINITY
      const { loss, againMs } = findLossAtRest(open.files)
      if (loss === null) return Math.min(againMs, open.follower.rest(), lookEveryMs)
      const fault = recover(open, loss) // at once: what only the connection has is lost with this process
      if (lost === null) unreported = fault
      return Number.POSITIVE_INFINITY
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
      // A file that another program truncated looks like a failed disk.
      const answer = refuse(isRefusal ? error.toFault() : (lost ?? faultOf(error, path)))
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
    const closing = open
    if (closing === null) return
    open = null
    try {
      // To close the last connection copies the log into the file, so it must be the file that was opened.
      const loss =
        closing.files.findMoved(true) ?? closing.files.findLossAfterCommit() ?? closing.files.verifyWholeLog()
      if (loss !== null) return void recover(closing, loss)
      closing.files.close()
      closing.database.close()
    } catch {
      // It has failed already; it only must not be used again.
    }
  }

  return { run, answer: (question) => open?.answer(question) ?? refuse(notOpen), rest, close }
}

/** A write-ahead log that is removed while nothing is written is saved after so long. */
const lookEveryMs = 2000

function findLossAtRest(files: HeldFiles): ReturnType<HeldFiles['verifyLog']> {
  const loss = files.findLoss()
  return loss === null ? files.verifyLog() : { loss, againMs: Number.POSITIVE_INFINITY }
}

/** Nobody waits for its answer, so a loss that it finds is reported by the next change of a caller. */
const isBackgroundWork = ([name]: StoreChange): boolean => name === 'extendIndex'

const notOpen = fault('storage_error', 'The writer has no open file.')

/** Opens the file and prepares its statements. */
function openFile(path: string, openDatabase: () => DatabaseSync, hasFailed: boolean): Open {
  const refusal = findFileFault(path)
  if (refusal !== null) throw new HoldfastError(refusal)
  const database = openDatabase()
  try {
    // After a failed sync the log may have frames that never reached the disk: later frames would be lost too.
    if (hasFailed) whileBusy(() => database.prepare('pragma wal_checkpoint(truncate)').get())
    const [begin, commit] = [database.prepare('begin immediate'), database.prepare('commit')]
    const index = createWordIndex(database)
    const follower = createIndexFollower(database, index)
    follower.wake()
    const changes = createChangesWithIndex(database, index)
    const files = holdFiles(path, database)
    return { database, changes, begin, commit, index, follower, files, answer: createAnswers(path, database, files) }
  } catch (error) {
    database.close()
    throw error
  }
}

function commitGroup(open: Open, requests: readonly StoreChange[]): readonly Result<unknown>[] {
  const { database, changes, begin, commit } = open
  whileBusy(() => begin.run())
  try {
    const answers = requests.map((change) => runCall(changes, change) as Result<unknown>)
    commit.run()
    return answers
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    if (database.isTransaction) database.exec('rollback')
  } catch {
    // The first error is the one to report; its handler closes the connection.
  }
}

/** Removing a record removes its words. If the index is damaged, it is emptied and the failed group runs again. */
function resetIndex(database: DatabaseSync, index: WordIndex): boolean {
  try {
    whileBusy(() => database.exec('begin immediate'))
    index.reset()
    database.exec('commit')
    return true
  } catch {
    rollBack(database)
    return false
  }
}

function createChangesWithIndex(database: DatabaseSync, index: WordIndex): WriteRequests {
  try {
    return createChanges(database, index)
  } catch (error) {
    if (!isIndexDamage(error) || !resetIndex(database, index)) throw error
    return createChanges(database, index)
  }
}

function createChanges(database: DatabaseSync, index: WordIndex): WriteRequests {
  return {
    ...createRecordWriter(database),
    ...createRowWriter(database),
    ...createSpendingWriter(database),
    ...createSessionRemover(database),
    open: () => done,
    extendIndex: (forMs) => ok(!index.isBehind() || index.extend(performance.now() + forMs)),
    resetIndex() {
      index.reset()
      return done
    },
  }
}

const forMs = 1000

/**
 * Indexes the records that the last writer did not get to, if the file can be written, for at most a second. Returns whether
 * some are left. Synchronous: for a command.
 */
export function catchUpIndex(path: string): boolean {
  if (!isBehind(path)) return false
  const writer = createWriter({ path })
  const [extended] = writer.run([['extendIndex', forMs]])
  writer.close()
  return extended?.ok === true && extended.value === false
}

function isBehind(path: string): boolean {
  using database = openForReading(path)
  try {
    const behind = database.prepare(`
      select coalesce((select max(pos) from record), 0) > coalesce((select pos from cursor where name = ?), 0) as behind`)
    return whileBusy(() => behind.get(searchCursorName))?.['behind'] === 1
  } catch {
    return false // the file is damaged or has no index: the search itself reports it
  }
}
