import { done, fault, refuse } from '@holdfast/protocol'
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
  const { blobs } = registry.deps
  const away = { ...blobs, probe: async () => refuse(fault('storage_error', 'The bucket secret does not answer.')) }
  const without = { ...registry, deps: { ...registry.deps, blobs: away } }
  expect(await reason(without)).toBe('files')
  expect(JSON.stringify(await checkReady(without))).not.toContain('secret')
  const there = { ...blobs, probe: async () => done }
  expect(await reason({ ...registry, deps: { ...registry.deps, blobs: there } })).toBe('ready')
  await store.removeNode(registry.deps.node.id)
  expect(await reason()).toBe('owner')
  await registry.close()
  expect(await reason()).toBe('closing')
})
