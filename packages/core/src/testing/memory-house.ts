import { type House, type HouseOptions, openHouse } from '@holdfast/testkit'
// The one arrow upwards of core's tests: a runtime wants some store, and the memory store passes the same contract.
import { createMemoryBlobs, createMemoryStore } from 'holdfast/store'

export { createMemoryBlobs, createMemoryStore }

/** A house on a store in memory, unless the test brings its own. */
export const openMemoryHouse = (options: Partial<HouseOptions> = {}): Promise<House> =>
  openHouse({ store: createMemoryStore(), blobs: createMemoryBlobs(), ...options })
