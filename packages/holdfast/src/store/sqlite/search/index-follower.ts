import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../../storage-fault.ts'
import { isIndexDamageWithin } from './index-tables.ts'
import type { WordIndex } from './word-index.ts'

/** The index is extended in short slices, so that no append waits long. Under load there is a pause between slices. */
const sliceMs = 4
const pauseMs = 100
/** After this time without a write, slices follow each other without a pause. */
const quietMs = 20
const busyPauseMs = 30

export interface IndexFollower {
  /** Reports a possible write. */
  wake(): void
  /** Runs a slice if one is due. Returns in how many milliseconds to call it again. */
  rest(): number
}

/** Decides when the word index is extended. Runs on the writer's thread, between its groups. */
export function createIndexFollower(database: DatabaseSync, index: WordIndex): IndexFollower {
  let dueAtMs = Number.POSITIVE_INFINITY
  let wokenAtMs = 0
  let resets = 0

  /** Not synced: a crash loses the words and the cursor together, and the next slices add them again. */
  function runSlice(work: () => boolean): boolean {
    database.exec('pragma synchronous = normal; begin immediate')
    try {
      const isComplete = work()
      database.exec('commit')
      return isComplete
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      throw error
    } finally {
      database.exec('pragma synchronous = full')
    }
  }

  /** Returns when the next slice is due. Throws if the disk failed, and if a new index fails like the old one. */
  function extend(): number {
    try {
      if (!index.isBehind()) return Number.POSITIVE_INFINITY
      if (runSlice(() => index.extend(performance.now() + sliceMs))) return Number.POSITIVE_INFINITY
    } catch (error) {
      if (isBusy(error)) return performance.now() + busyPauseMs
      if (!isIndexDamageWithin(error) || resets > 0) throw error
      resets += 1
      runSlice(() => {
        index.reset()
        return true
      })
    }
    const now = performance.now()
    return now - wokenAtMs > quietMs ? now : now + pauseMs
  }

  return {
    wake() {
      wokenAtMs = performance.now()
      if (dueAtMs === Number.POSITIVE_INFINITY) dueAtMs = wokenAtMs + pauseMs
    },
    rest() {
      if (performance.now() >= dueAtMs) dueAtMs = extend()
      return Math.max(0, dueAtMs - performance.now())
    },
  }
}
