import { orThrow, type Removal } from '@holdfast/protocol'
import { aSession, say } from '@holdfast/testkit'
import { createMemoryBlobs } from 'holdfast/store'
import { describe, expect, it } from 'vitest'
import type { BlobSweep } from '../../ports/store/blobs.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { talkTo } from '../../testing/talk.ts'
import { createLocalSessions } from '../api/local-sessions.ts'
import { startDailyCleanup } from './daily-cleanup.ts'

const dayMs = 24 * 3_600_000

/** Opens a runtime whose blobs report sweeps, with one session in its trash. */
async function openTrashed() {
  const sweeps: number[] = []
  const blobs = createMemoryBlobs()
  const runtime = await openMemoryRuntime({
    script: () => [say('Hi.')],
    blobs: {
      ...blobs,
      async sweep(isUsed, options): Promise<BlobSweep> {
        sweeps.push(options.now)
        return blobs.sweep(isUsed, options)
      },
    },
  })
  await talkTo(runtime.handle).ask('Hello')
  const sessions = createLocalSessions(runtime.registry)
  orThrow(await sessions.delete(aSession))
  return { ...runtime, sessions, sweeps, startedMs: runtime.clock.now() }
}

describe('the daily cleanup', () => {
  it('removes sessions that were trashed 30 days ago at its start, and no newer ones', async () => {
    const { registry, store, clock } = await openTrashed()
    clock.advance(30 * dayMs)
    await startDailyCleanup(registry).close()
    expect(await store.entry(aSession)).not.toBeNull()
    clock.advance(1)
    const cleanup = startDailyCleanup(registry)
    await untilGone(store)
    await cleanup.close()
  })

  it('runs every day', async () => {
    const { registry, store, clock } = await openTrashed()
    const cleanup = startDailyCleanup(registry)
    for (let day = 0; day < 31; day++) clock.advance(dayMs)
    await untilGone(store)
    await cleanup.close()
    expect(clock.nextMs()).toBeNull()
  })

  it('sweeps blobs after a while and then daily, so that a short process never does', async () => {
    const { registry, clock, sweeps, startedMs } = await openTrashed()
    const cleanup = startDailyCleanup(registry)
    clock.advance(9 * 60_000)
    expect(sweeps).toEqual([])
    clock.advance(60_000)
    await swept(sweeps, 1)
    clock.advance(dayMs)
    await swept(sweeps, 2)
    await cleanup.close()
    expect(sweeps[0]).toBe(startedMs + 10 * 60_000)
  })

  it('prunes only if it is configured to, and reports it', async () => {
    const runtime = await openMemoryRuntime({ script: () => [say('Hi.')] })
    await talkTo(runtime.handle).ask('Hello')
    runtime.clock.advance(91 * dayMs)
    const sessions = createLocalSessions(runtime.registry)
    await startDailyCleanup(runtime.registry).close()
    expect(orThrow(await sessions.list()).sessions).toHaveLength(1)

    const pruned = Promise.withResolvers<Removal>()
    const cleanup = startDailyCleanup(runtime.registry, { days: 90, onPruned: pruned.resolve })
    expect(await pruned.promise).toMatchObject({ count: 1, gone: [{ id: aSession }] })
    await cleanup.close()
    expect(orThrow(await sessions.list({ trashed: true })).sessions).toHaveLength(1)
  })

  it('looks up the used blobs once per sweep', async () => {
    const [store, blobs] = [createMemoryStore(), createMemoryBlobs()]
    const swept = Promise.withResolvers<void>()
    let reads = 0
    const blobsInUse: typeof store.blobsInUse = (signal) => {
      reads += 1
      return store.blobsInUse(signal)
    }
    const sweep: typeof blobs.sweep = async (areUsed) => {
      for (let shelf = 0; shelf < 3; shelf++) await areUsed([])
      swept.resolve()
      return { removed: 0, bytes: 0, setAside: 0 }
    }
    const runtime = await openMemoryRuntime({ store: { ...store, blobsInUse }, blobs: { ...blobs, sweep } })
    const cleanup = startDailyCleanup(runtime.registry)
    runtime.clock.advance(10 * 60_000)
    await swept.promise
    await cleanup.close()
    expect(reads).toBe(1)
  })

  it('stops after the current page when it is closed', async () => {
    const store = createMemoryStore()
    const [listed, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let pages = 0
    const list: typeof store.list = async (request) => {
      pages += 1
      listed.resolve()
      await closed.promise
      return { ...(await store.list(request)), next: pages < 5 ? '0.1.1' : null }
    }
    const runtime = await openMemoryRuntime({ store: { ...store, list } })
    const cleanup = startDailyCleanup(runtime.registry, { days: 1 })
    await listed.promise
    const closing = cleanup.close()
    closed.resolve()
    await closing
    expect(pages).toBe(1)
  })

  it('ends a sweep when it is closed', async () => {
    const blobs = createMemoryBlobs()
    const begun = Promise.withResolvers<void>()
    const sweep: typeof blobs.sweep = (_, { signal }) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve({ removed: 0, bytes: 0, setAside: 0 }))
        begun.resolve()
      })
    const runtime = await openMemoryRuntime({ blobs: { ...blobs, sweep } })
    const cleanup = startDailyCleanup(runtime.registry)
    runtime.clock.advance(10 * 60_000)
    await begun.promise
    await cleanup.close()
  })

  it('reports a problem and runs again the next day', async () => {
    const store = createMemoryStore()
    let isBroken = true
    const list: typeof store.list = async (request) => {
      if (isBroken && request.trashed) throw new Error('the disk is away')
      return store.list(request)
    }
    const problem = Promise.withResolvers<unknown>()
    const runtime = await openMemoryRuntime({ store: { ...store, list }, script: () => [say('Hi.')] })
    await talkTo(runtime.handle).ask('Hello')
    const { registry } = runtime
    const deps = { ...registry.deps, onProblem: problem.resolve }
    orThrow(await createLocalSessions(registry).delete(aSession))
    const cleanup = startDailyCleanup({ ...registry, deps })
    expect(await problem.promise).toMatchObject({ where: 'daily cleanup' })
    isBroken = false
    for (let day = 0; day < 31; day++) runtime.clock.advance(dayMs)
    await untilGone(store)
    await cleanup.close()
  })
})

/** Resolves once the session is permanently removed. */
async function untilGone(store: Pick<ReturnType<typeof createMemoryStore>, 'entry'>): Promise<void> {
  while ((await store.entry(aSession)) !== null) await new Promise(setImmediate)
}

async function swept(sweeps: readonly number[], count: number): Promise<void> {
  while (sweeps.length < count) await new Promise(setImmediate)
}
