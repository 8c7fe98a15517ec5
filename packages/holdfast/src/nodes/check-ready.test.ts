import { fault, refuse } from '@holdfast/protocol'
import { openTestRuntime, say } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { createMemoryBlobs } from '../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../store/memory/memory-store.ts'
import { checkReady } from './check-ready.ts'

it('a process is ready while its store takes writes and knows it, and until it closes', async () => {
  const store = createMemoryStore()
  const { registry } = await openTestRuntime({ store, blobs: createMemoryBlobs(), script: () => [say('Hi.')] })
  const reason = async (one = registry) => {
    const found = await checkReady(one)
    return found.ok ? 'ready' : found.fault.details?.['reason']
  }
  await store.registerNode(registry.deps.node)
  expect(await reason()).toBe('ready')
  const full = { ...registry.deps.store, probe: async () => refuse(fault('storage_error', 'The disk is full.')) }
  expect(await reason({ ...registry, deps: { ...registry.deps, store: full } })).toBe('store')
  await store.removeNode(registry.deps.node.id)
  expect(await reason()).toBe('owner')
  await registry.close()
  expect(await reason()).toBe('closing')
})
