import { orThrow, type Removal, type Sessions } from '@holdfast/protocol'
import { aSession, createGate, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { spokenIn, talkTo } from '../../testing/talk.ts'

import { createLocalSessions } from '../api/local-sessions.ts'

const dayMs = 24 * 3_600_000

/** A runtime whose first session was spoken in at the beginning; time can pass. */
async function openOld() {
  const runtime = await openMemoryRuntime({ script: () => [say('Hi.')] })
  await talkTo(runtime.handle).ask('Hello')
  const sessions = createLocalSessions(runtime.registry)
  const daysAgo = (days: number) => new Date(runtime.clock.now() - days * dayMs).toISOString()
  return { ...runtime, sessions, daysAgo }
}

const handlesOf = async (sessions: Sessions, trashed?: true) =>
  orThrow(await sessions.list({ trashed })).sessions.map(({ handle }) => handle)
const reasonsOf = ({ stayed }: Removal) => stayed.map(({ handle, reason }) => `${handle} ${reason}`)

describe('pruning', () => {
  it('trashes sessions without a prompt since then, and counts them', async () => {
    const { sessions, clock, daysAgo } = await openOld()
    clock.advance(31 * dayMs)
    await spokenIn(sessions)
    const removal = orThrow(await sessions.prune({ before: daysAgo(30) }))
    expect([removal.count, removal.gone.map(({ id }) => id), removal.stayed]).toEqual([1, [aSession], []])
    expect([await handlesOf(sessions), await handlesOf(sessions, true)]).toEqual([['calm-harbor-2'], ['calm-harbor-1']])
  })

  it('goes by when someone last spoke, not by when it was last changed', async () => {
    const { sessions, handle, clock, daysAgo } = await openOld()
    clock.advance(31 * dayMs)
    await handle.submit({ type: 'rename', title: 'Renamed today' })
    expect(orThrow(await sessions.prune({ before: daysAgo(30) })).count).toBe(1)
  })

  it('keeps to a workspace', async () => {
    const { sessions, clock, daysAgo } = await openOld()
    await spokenIn(sessions, { workdir: '/other' })
    clock.advance(31 * dayMs)
    const removal = orThrow(await sessions.prune({ before: daysAgo(30), workspace: '/other' }))
    expect(removal.gone.map(({ handle }) => handle)).toEqual(['calm-harbor-2'])
    expect(await handlesOf(sessions)).toEqual(['calm-harbor-1'])
  })

  it('leaves and names what is pinned, runs, is attended or open elsewhere', async () => {
    const store = createMemoryStore()
    const gate = createGate()
    const runtime = await openMemoryRuntime({
      store,
      living: ['one', 'two'],
      script: (_, index) => (index === 4 ? [waitAt(gate)] : [say('Hi.')]),
    })
    const sessions = createLocalSessions(runtime.registry)
    await talkTo(runtime.handle).ask('Hello')
    const pinned = await spokenIn(sessions)
    await pinned.submit({ type: 'pinSession' })
    const attended = await spokenIn(sessions)
    const frames = attended.subscribe()[Symbol.asyncIterator]()
    await frames.next()
    const elsewhere = await spokenIn(sessions)
    await runtime.registry.unload(elsewhere.id)
    await store.registerNode({ id: 'two', address: '', startedAt: '' })
    orThrow(await store.claim(elsewhere.id, 'two', null))
    const running = orThrow(await sessions.start({ workdir: '/work' }))
    await running.submit({ type: 'sendPrompt', content: 'go' })
    await gate.reached

    runtime.clock.advance(1)
    const removal = orThrow(await sessions.clearAll())
    expect(removal.gone.map(({ id }) => id)).toEqual([aSession])
    expect(reasonsOf(removal)).toEqual([
      'calm-harbor-2 pinned',
      'calm-harbor-5 running',
      'calm-harbor-4 open_elsewhere',
      'calm-harbor-3 attached',
    ])
    const again = orThrow(await sessions.prune({ before: new Date(runtime.clock.now()).toISOString() }))
    expect([again.count, again.stayed.length]).toEqual([0, 4])
    await frames.return?.()
  })

  it('takes what a dead process left behind', async () => {
    const store = createMemoryStore()
    const dead = await openMemoryRuntime({ store, script: () => [say('Hi.')] })
    await store.registerNode(dead.registry.deps.node)
    await talkTo(dead.handle).ask('Hello')
    const next = await openMemoryRuntime({ store, takesOver: true, node: 'two' })
    expect(orThrow(await createLocalSessions(next.registry).clearAll()).count).toBe(1)
    expect((await store.entry(aSession))?.owner).toBeNull()
  })

  it('leaves one in which someone speaks after it was listed', async () => {
    const store = createMemoryStore()
    const list: typeof store.list = async (request) => {
      const page = await store.list(request)
      await talkTo(runtime.handle).ask('I am back')
      return page
    }
    const runtime = await openMemoryRuntime({ store: { ...store, list }, script: () => [say('Hi.')] })
    await talkTo(runtime.handle).ask('Hello')
    runtime.clock.advance(31 * dayMs)
    const before = new Date(runtime.clock.now() - 30 * dayMs).toISOString()
    const removal = orThrow(await createLocalSessions(runtime.registry).prune({ before }))
    expect(removal).toMatchObject({ count: 0, stayed: [] })
  })

  it('says what it would take and changes nothing when it is only tried', async () => {
    const { sessions, store, events, registry, clock, daysAgo } = await openOld()
    const pinned = await spokenIn(sessions)
    await pinned.submit({ type: 'pinSession' })
    const seen = async () => [await store.list({ limit: 10 }), await store.entry(aSession), await events()]
    clock.advance(31 * dayMs)
    await Promise.all([aSession, pinned.id].map(registry.unload)) // they had nothing to do for days
    const before = await seen()
    const tried = orThrow(await sessions.prune({ before: daysAgo(30), dryRun: true }))
    expect([tried.count, tried.dryRun, reasonsOf(tried)]).toEqual([1, true, ['calm-harbor-2 pinned']])
    expect(orThrow(await sessions.clearAll({ dryRun: true })).count).toBe(1)
    expect(await seen()).toEqual(before)
    const done = orThrow(await sessions.prune({ before: daysAgo(30) }))
    expect({ ...done, dryRun: true }).toEqual(tried)
  })

  it('goes through more sessions than a page holds', async () => {
    const { sessions, store } = await openOld()
    const entry = (await store.entry(aSession))?.entry
    const records = await store.read(aSession, { after: 0, limit: 1 })
    for (let born = 0; born < 250; born++) {
      const id = `ses_01k5${String(born).padStart(22, '0')}` as typeof aSession
      if (!entry) throw new Error('there is one')
      const meta = { ...entry.meta, id, handle: `cold-harbor-${born}` as typeof entry.meta.handle }
      orThrow(
        await store.create({
          ...{ session: id, parent: null, base: 0, owner: 'one', blobs: [] },
          records: records.flatMap((record) =>
            'lost' in record ? [] : [{ record, body: JSON.stringify(record.event) }],
          ),
          entry: { ...entry, meta },
        }),
      )
    }
    const removal = orThrow(await sessions.clearAll())
    expect([removal.count, removal.gone.length]).toEqual([251, 251])
    expect(await handlesOf(sessions)).toEqual([])
  })

  it.each([{}, { before: 'yesterday' }, { before: 30 }])('refuses %j', async (options) => {
    const { sessions } = await openOld()
    expect(await sessions.prune(options as never)).toMatchObject({ fault: { code: 'bad_request' } })
  })
})

describe('the list', () => {
  it('begins with what is pinned', async () => {
    const { sessions, handle, clock } = await openOld()
    clock.advance(dayMs)
    await spokenIn(sessions)
    expect(await handlesOf(sessions)).toEqual(['calm-harbor-2', 'calm-harbor-1'])
    await handle.submit({ type: 'pinSession' })
    expect(await handlesOf(sessions)).toEqual(['calm-harbor-1', 'calm-harbor-2'])
  })

  it('keeps to model, age, pinned and running', async () => {
    const gate = createGate()
    const runtime = await openMemoryRuntime({ script: (_, index) => (index === 2 ? [waitAt(gate)] : [say('Hi.')]) })
    await runtime.store.registerNode(runtime.registry.deps.node)
    const sessions = createLocalSessions(runtime.registry)
    await talkTo(runtime.handle).ask('Hello')
    runtime.clock.advance(dayMs)
    const since = new Date(runtime.clock.now()).toISOString()
    const other = await spokenIn(sessions, { model: 'sim/other' })
    await other.submit({ type: 'pinSession' })
    await runtime.handle.submit({ type: 'sendPrompt', content: 'go' })
    await gate.reached
    const handles = async (options: Parameters<typeof sessions.list>[0]) =>
      orThrow(await sessions.list(options)).sessions.map(({ handle }) => handle)
    expect(await handles({ model: 'sim/other' })).toEqual(['calm-harbor-2'])
    expect(await handles({ pinned: true })).toEqual(['calm-harbor-2'])
    expect(await handles({ pinned: false })).toEqual(['calm-harbor-1'])
    expect(await handles({ running: true })).toEqual(['calm-harbor-1'])
    expect(await handles({ activeFrom: since })).toEqual(['calm-harbor-2', 'calm-harbor-1'])
    expect(await handles({ activeBefore: since })).toEqual([])
  })
})
