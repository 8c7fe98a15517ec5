import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Fault } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf, isBusy, isFull, isStorageFailure, storageFault } from '../../storage-fault.ts'
import { whileBusy } from '../file/busy-retry.ts'
import { openForWriting, prepareStoreFile, refusalOf } from '../file/database-file.ts'
import type { WriteRequest } from '../rows/messages.ts'
import { createSearchIndex, type SearchIndex } from '../search/index.ts'
import { createSearchFollower, type SearchFollower } from '../search/index-follower.ts'
import { isSearchDamage } from '../search/table.ts'
import { createCursorWriter } from './cursor-writer.ts'
import { createProbeWriter } from './probe-writer.ts'
import { createPurge } from './purge.ts'
import { createRecordWriter } from './record-writer.ts'
import { createRowWriter } from './row-writer.ts'
import { createTrashWriter } from './trash-writer.ts'

export type WriterOptions = {
  readonly path: string
  /** The greatest size of the file in pages: how a test fills a disk. */
  readonly pagesMax?: number | undefined
}

export interface Writer {
  /** Carries out a group in one transaction; the answers are in the order of the requests, and true once this returns. */
  run(requests: readonly WriteRequest[]): readonly Result<unknown>[]
  /** What can be done between groups, a few milliseconds of it; returns after how many it wants to be asked again. */
  rest(): number
  close(): void
}

type Open = {
  readonly database: DatabaseSync
  readonly inode: number
  readonly apply: (request: WriteRequest) => Result<unknown>
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly index: SearchIndex
  readonly follower: SearchFollower
  /** When the name last led to this file, and how large it was then. */
  seenAt: number
  bytes: number
}

const lookEveryMs = 20

/** The one hand that writes the file. Synchronous: it lives in a worker. */
export function createWriter(
  { path, pagesMax }: WriterOptions,
  openDatabase: (path: string, pagesMax?: number) => DatabaseSync = openForWriting,
): Writer {
  let open: Open | null = null
  let hasFailed = false
  let hasRenewed = false

  function run(requests: readonly WriteRequest[]): readonly Result<unknown>[] {
    try {
      if (requests.some(({ op }) => op === 'open')) prepare()
      open ??= reopen()
      const answers = commitGroup(open, requests)
      open.follower.wake()
      expectInPlace(open)
      hasRenewed = false
      return answers
    } catch (error) {
      return failed(requests, error)
    }
  }

  /** A file that lost its name takes every write and keeps none. Looked at now and then: a look costs 5 % of a commit. */
  function expectInPlace(held: Open): void {
    const now = performance.now()
    if (now - held.seenAt < lookEveryMs) return
    const seen = statSync(path, { throwIfNoEntry: false })
    // Nothing here ever makes it smaller: whoever cut it took pages that only the cache still has.
    if (seen?.ino !== held.inode || seen.size < held.bytes) throw new Refusal(storageFault(path, 'replaced'))
    held.bytes = seen.size
    held.seenAt = now
  }

  function prepare(): void {
    const refusal = prepareStoreFile(path)
    if (refusal !== null) throw new Refusal(refusal)
  }

  function reopen(): Open {
    const refusal = refusalOf(path)
    if (refusal !== null) throw new Refusal(refusal)
    const { ino: inode, size: bytes } = statSync(path)
    const database = openDatabase(path, pagesMax)
    try {
      if (hasFailed) rewriteWhatASyncMayHaveLost(database)
      hasFailed = false
      const [begin, commit] = [database.prepare('begin immediate'), database.prepare('commit')]
      const index = createSearchIndex(database)
      const follower = createSearchFollower(database, index)
      follower.wake()
      const apply = createApplyWithSearch(database, index)
      return { database, inode, apply, begin, commit, index, follower, bytes, seenAt: performance.now() }
    } catch (error) {
      database.close()
      throw error
    }
  }

  function rest(): number {
    try {
      return open?.follower.rest() ?? Number.POSITIVE_INFINITY
    } catch (error) {
      // What needs the disk will hear of it; a failed handle is never used again, whoever met the failure.
      if (isStorageFailure(error)) abandon(error)
      return Number.POSITIVE_INFINITY
    }
  }

  function failed(requests: readonly WriteRequest[], error: unknown): readonly Result<unknown>[] {
    if (open !== null && !hasRenewed && isSearchDamage(error)) {
      hasRenewed = renewSearch(open.database, open.index)
      if (hasRenewed) return run(requests)
    }
    const isRefusal = error instanceof Refusal
    if (isRefusal || isStorageFailure(error)) {
      // A busy file is a whole file: only the wait was too long.
      if (isRefusal || !isBusy(error)) abandon(error)
      const answer = refuse(isRefusal ? error.fault : faultOf(error, path))
      return requests.map(() => answer)
    }
    // One request broke the group through a bug of ours: the others must not pay for it.
    if (requests.length > 1) return requests.flatMap((request) => run([request]))
    return [refuse(faultOf(error, path))]
  }

  /** On a full disk the log is not copied: that would use up what room is made, and a few pages let writing go on. */
  function abandon(error: unknown): void {
    hasFailed ||= !isFull(error)
    close()
  }

  /** After a failed sync the kernel calls lost pages clean: the handle is never used again. */
  function close(): void {
    try {
      open?.database.close()
    } catch {
      // It failed before; what matters is that nobody uses it again.
    }
    open = null
  }

  return { run, rest, close }
}

function commitGroup(open: Open, requests: readonly WriteRequest[]): readonly Result<unknown>[] {
  const { database, apply, begin, commit } = open
  whileBusy(() => begin.run())
  try {
    const answers = requests.map(apply)
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
    // The first error is the one to tell; a handle that cannot roll back is closed by whoever hears of it.
  }
}

/**
 * Frames that a failed sync left behind may stand in the log though the disk never took them; whatever is appended
 * behind them would be lost with them. Copying all of it into the main file, synced, makes what we can read what is there.
 */
function rewriteWhatASyncMayHaveLost(database: DatabaseSync): void {
  whileBusy(() => database.prepare('pragma wal_checkpoint(truncate)').get())
}

/** Removing a record removes its words. Where those are damaged they are made anew, and whoever failed has another go. */
function renewSearch(database: DatabaseSync, index: SearchIndex): boolean {
  try {
    whileBusy(() => database.exec('begin immediate'))
    index.renew()
    database.exec('commit')
    return true
  } catch {
    if (database.isTransaction) rollBack(database)
    return false
  }
}

function createApplyWithSearch(database: DatabaseSync, index: SearchIndex): Open['apply'] {
  try {
    return createApply(database, index)
  } catch (error) {
    if (!isSearchDamage(error) || !renewSearch(database, index)) throw error
    return createApply(database, index)
  }
}

function createApply(database: DatabaseSync, index: SearchIndex): (request: WriteRequest) => Result<unknown> {
  const records = createRecordWriter(database)
  const cursors = createCursorWriter(database)
  const rows = createRowWriter(database, cursors.lower)
  const purging = createPurge(database, cursors.lower)
  const trash = createTrashWriter(database, cursors.countTrashing)
  const probes = createProbeWriter(database)
  return (request) => {
    switch (request.op) {
      case 'append':
        return records.append(request)
      case 'create':
        return records.create(request)
      case 'claim':
        return rows.claim(request)
      case 'release':
        return rows.release(request)
      case 'registerNode':
        return rows.registerNode(request)
      case 'removeNode':
        return rows.removeNode(request)
      case 'saveDraft':
        return rows.saveDraft(request)
      case 'saveSnapshot':
        return rows.saveSnapshot(request)
      case 'removeUnspoken':
        return rows.removeUnspoken(request)
      case 'trash':
        return trash.trash(request)
      case 'restore':
        return trash.restore(request)
      case 'purge':
        return purging.purge(request)
      case 'saveCursor':
        return cursors.save(request)
      case 'beginProbe':
        return probes.begin()
      case 'endProbe':
        return probes.end()
      case 'followSearch':
        return ok(!index.isBehind() || index.follow(performance.now() + request.forMs))
      case 'renewSearch':
        index.renew()
        return done
      case 'open':
        return done
      default:
        return request satisfies never
    }
  }
}

/** Carries a fault out of a group; never leaves this file. */
class Refusal extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.fault = fault
  }
}
