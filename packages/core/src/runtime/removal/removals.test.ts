import { fault, orThrow, refuse } from '@holdfast/protocol'
import { aPng, aSession, createVirtualClock, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { spokenIn, talkTo } from '../../testing/talk.ts'

import { createLocalSessions } from '../api/local-sessions.ts'
import { sweepBlobs } from './sweeps.ts'

const dayMs = 24 * 3_600_000

async function openTrash(store = createMemoryStore()) {
  // Blobs use the real time, so the clock starts today.
  const clock = createVirtualClock(Date.now())
  const runtime = await openMemoryRuntime({ store, clock, script: () => [say('Hi.')] })
  return { ...runtime, sessions: createLocalSessions(runtime.registry) }
}

describe('emptying the trash', () => {
  it('permanently removes the sessions in it, and no others', async () => {
    const { sessions, handle, store } = await openTrash()
    await talkTo(handle).ask('Hello')
    const kept = await spokenIn(sessions)
    orThrow(await sessions.delete(aSession))
    expect(orThrow(await sessions.emptyTrash({ dryRun: true }))).toMatchObject({ count: 1, dryRun: true })
    expect(await store.entry(aSession)).not.toBeNull()
    expect(orThrow(await sessions.emptyTrash())).toMatchObject({ count: 1, gone: [{ id: aSession }], stayed: [] })
    expect([await store.entry(aSession), (await store.entry(kept.id)) === null]).toEqual([null, false])
    expect(await sessions.restore(aSession)).toMatchObject({ fault: { code: 'session_not_found' } })
  })

  it('removes only sessions trashed before a given time, if asked', async () => {
    const { sessions, handle, clock } = await openTrash()
    await talkTo(handle).ask('Hello')
    const later = await spokenIn(sessions)
    orThrow(await sessions.delete(aSession))
    clock.advance(dayMs)
    const before = new Date(clock.now()).toISOString()
    orThrow(await sessions.delete(later.id))
    expect(orThrow(await sessions.emptyTrash({ before })).gone.map(({ id }) => id)).toEqual([aSession])
    expect(orThrow(await sessions.list({ trashed: true })).sessions.map(({ id }) => id)).toEqual([later.id])
  })

  it('keeps a session that was restored and trashed again after it was listed', async () => {
    const store = createMemoryStore()
    let isChanged = false
    const list: typeof store.list = async (request) => {
      const page = await store.list(request)
      if (request.trashed && !isChanged) {
        isChanged = true // to restore a session lists the trash too
        orThrow(await sessions.restore(aSession))
        orThrow(await sessions.restore(again.id))
        clock.advance(1)
        orThrow(await sessions.delete(again.id))
      }
      return page
    }
    const { sessions, handle, clock } = await openTrash({ ...store, list })
    await talkTo(handle).ask('Hello')
    const again = await spokenIn(sessions)
    for (const id of [aSession, again.id]) orThrow(await sessions.delete(id))
    expect(orThrow(await sessions.emptyTrash())).toMatchObject({ count: 0, stayed: [] })
    expect((await store.entry(aSession))?.trashedAt).toBeNull()
    expect(await store.entry(again.id)).not.toBeNull()
  })

  it('waits for exclusive work on the session', async () => {
    const { sessions, handle, registry, store } = await openTrash()
    await talkTo(handle).ask('Hello')
    orThrow(await sessions.delete(aSession))
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = registry.runAlone(aSession, async () => {
      begun.resolve()
      await gate.promise
      return store.restore(aSession)
    })
    await begun.promise
    const emptying = sessions.emptyTrash()
    await new Promise(setImmediate) // lets all other work finish
    expect(await store.entry(aSession)).not.toBeNull()
    gate.resolve()
    await holding
    expect(orThrow(await emptying)).toMatchObject({ count: 0 })
    expect(await store.entry(aSession)).not.toBeNull()
  })

  it('keeps and names sessions that are open elsewhere, and removes the others', async () => {
    const store = createMemoryStore()
    const purge: typeof store.purge = async (id, options) =>
      id === aSession ? refuse(fault('session_locked', 'It is open.')) : store.purge(id, options)
    const { sessions, handle } = await openTrash({ ...store, purge })
    await talkTo(handle).ask('Hello')
    const other = await spokenIn(sessions)
    orThrow(await sessions.delete(other.id))
    orThrow(await sessions.delete(aSession))
    expect(orThrow(await sessions.emptyTrash())).toMatchObject({
      gone: [{ id: other.id }],
      stayed: [{ id: aSession, reason: 'open_elsewhere' }],
    })
  })

  it('lists only sessions that are old enough', async () => {
    const store = createMemoryStore()
    const asked: unknown[] = []
    const list: typeof store.list = (request) => {
      asked.push(request.trashedBefore)
      return store.list(request)
    }
    const { sessions } = await openTrash({ ...store, list })
    const before = new Date(0).toISOString()
    orThrow(await sessions.emptyTrash({ before }))
    expect(asked).toEqual([0])
  })

  it('revokes the tokens of the sessions, and no others', async () => {
    const { sessions, handle, store } = await openTrash()
    await talkTo(handle).ask('Hello')
    const kept = await spokenIn(sessions)
    for (const [index, session] of [aSession, kept.id, null].entries()) {
      const about = {
        name: 'a link',
        role: 'viewer',
        createdAt: '',
        createdBy: null,
        expiresAt: null,
        lastUsedAt: null,
      } as const
      orThrow(await store.addToken({ ...about, id: `tok_${index}`, hash: String(index).repeat(64), session }))
    }
    const named = async () => (await store.tokens()).map(({ session }) => session)
    orThrow(await sessions.delete(aSession))
    expect(await named()).toEqual([aSession, kept.id, null]) // it can be restored
    orThrow(await sessions.emptyTrash())
    expect(await named()).toEqual([kept.id, null])
    orThrow(await sessions.purge(kept.id))
    expect(await named()).toEqual([null])
  })

  it('lets a sweep remove the files that only it used, after a day at the earliest', async () => {
    const { sessions, handle, blobs, registry, clock } = await openTrash()
    const put = async (edge: number) => orThrow(await sessions.storeFile(aPng(edge, edge), { name: 'a.png' })).file
    const [own, shared] = [await put(3), await put(5)]
    await talkTo(handle).send({ type: 'sendPrompt', content: [own, shared] })
    const other = orThrow(await sessions.start({ workdir: '/work' }))
    await talkTo(other).send({ type: 'sendPrompt', content: [shared] })
    orThrow(await sessions.delete(aSession, { force: true }))
    const sweepTwice = async () => {
      for (let time = 0; time < 2; time++) {
        clock.advance(2 * dayMs)
        await sweepBlobs(registry.deps)
      }
    }
    await sweepTwice()
    expect([await blobs.has(own.blob), await blobs.has(shared.blob)]).toEqual([true, true]) // it can be restored
    orThrow(await sessions.emptyTrash())
    await sweepTwice()
    expect([await blobs.has(own.blob), await blobs.has(shared.blob)]).toEqual([false, true])
  })
})

describe('the blobs of a session', () => {
  it('can be read through it, and blobs of other sessions cannot', async () => {
    const { sessions, handle } = await openTrash()
    const { file } = orThrow(await sessions.storeFile(aPng(), { name: 'a.png' }))
    expect(await handle.blob(file.blob)).toMatchObject({ fault: { code: 'blob_not_found' } })
    await talkTo(handle).send({ type: 'sendPrompt', content: [file] })
    const chunks: Uint8Array[] = []
    for await (const chunk of orThrow(await handle.blob(file.blob))) chunks.push(chunk)
    expect(Buffer.concat(chunks)).toEqual(Buffer.from(aPng()))
    const other = await spokenIn(sessions)
    expect(await other.blob(file.blob)).toMatchObject({ fault: { code: 'blob_not_found' } })
  })
})
