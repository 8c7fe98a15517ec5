import { openTestRuntime, type TestRuntime, type TestRuntimeOptions } from '@holdfast/testkit'
// The one arrow upwards of core's tests: a runtime wants some store, and the memory store passes the same contract.
import { createMemoryBlobs, createMemoryStore } from 'holdfast/store'

export { createMemoryBlobs, createMemoryStore }

/** A house on a store in memory, unless the test brings its own. */
export const openMemoryHouse = (options: Partial<TestRuntimeOptions> = {}): Promise<TestRuntime> =>
  openTestRuntime({ store: createMemoryStore(), blobs: createMemoryBlobs(), ...options })
