import { openTestRuntime, type TestRuntime, type TestRuntimeOptions } from '@holdfast/testkit'
// The only upward import of core's tests: a runtime needs some store, and this one passes the contract.
import { createMemoryBlobs, createMemoryStore, openSqliteStore } from 'holdfast/store'

export { createMemoryBlobs, createMemoryStore, openSqliteStore }

/** Opens a test runtime on a memory store, unless the test brings its own. */
export const openMemoryRuntime = (options: Partial<TestRuntimeOptions> = {}): Promise<TestRuntime> =>
  openTestRuntime({ store: createMemoryStore(), blobs: createMemoryBlobs(), ...options })
