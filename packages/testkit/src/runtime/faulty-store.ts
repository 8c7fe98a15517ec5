import type { Store } from '@holdfast/core/ports'
import { type Fault, fault, refuse } from '@holdfast/protocol'

/** The fault of a full disk. */
export const diskFull: Fault = fault('storage_error', 'The store cannot be used: the disk is full.', {
  reason: 'disk_full',
})

/** A store whose writes fail on demand. */
export type FaultyStore = Store & {
  /** Makes the n-th append from now fail, counting from 1. */
  failAppend(nth: number, fault?: Fault): void
  /** Makes every write fail until `heal`. */
  breakDown(fault?: Fault): void
  /** Makes writes succeed again. */
  heal(): void
}

/** Wraps a store so that its writes fail on demand. */
export function createFaultyStore(store: Store): FaultyStore {
  let untilFailure = Number.POSITIVE_INFINITY
  let isBroken = false
  let failure = diskFull

  return {
    ...store,
    async append(append) {
      untilFailure -= 1
      if (!isBroken && untilFailure !== 0) return store.append(append)
      return refuse(failure)
    },
    saveDraft: async (...draft) => (isBroken ? refuse(failure) : store.saveDraft(...draft)),
    probe: async () => (isBroken ? refuse(failure) : store.probe()),
    failAppend(nth, fault = diskFull) {
      untilFailure = nth
      failure = fault
    },
    breakDown(fault = diskFull) {
      isBroken = true
      failure = fault
    },
    heal() {
      isBroken = false
      untilFailure = Number.POSITIVE_INFINITY
    },
  }
}
