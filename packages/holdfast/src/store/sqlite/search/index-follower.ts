import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../../storage-fault.ts'
import type { SearchIndex } from './index.ts'
import { isSearchDamageWithin } from './table.ts'

/** The index follows in slices, so that an append never waits for long. Under load it has one slice in so many. */
const sliceMs = 4
const pauseMs = 100
/** Nobody has written for so long: then slice follows slice. */
const quietMs = 20
const busyPauseMs = 30

export interface SearchFollower {
  /** Something was written, or may have been. */
  wake(): void
  /** Takes a slice if one is due; returns after how many milliseconds it wants to be asked again. */
  rest(): number
}

/** Decides when the index of a store follows its log. Lives in the writer's thread, between its groups. */
export function createSearchFollower(database: DatabaseSync, index: SearchIndex): SearchFollower {
  let dueAtMs = Number.POSITIVE_INFINITY
  let wokenAtMs = 0
  let renewals = 0

  /** Whether it has all. Not synced: a crash takes the words and the cursor together, and following makes them again. */
  function slice(work: () => boolean): boolean {
    database.exec('pragma synchronous = normal; begin immediate')
    try {
      const isDone = work()
      database.exec('commit')
      return isDone
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      throw error
    } finally {
      database.exec('pragma synchronous = full')
    }
  }

  /** When the next slice is due. Throws where the disk failed, and where a new index fails like the old one. */
  function follow(): number {
    try {
      if (!index.isBehind()) return Number.POSITIVE_INFINITY
      const isDone = slice(() => index.follow(performance.now() + sliceMs))
      if (isDone) return Number.POSITIVE_INFINITY
    } catch (error) {
      if (isBusy(error)) return performance.now() + busyPauseMs
      if (!isSearchDamageWithin(error) || renewals > 0) throw error
      renewals += 1
      slice(() => {
        index.renew()
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
      if (performance.now() >= dueAtMs) dueAtMs = follow()
      return Math.max(0, dueAtMs - performance.now())
    },
  }
}
