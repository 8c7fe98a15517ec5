import { type Frame, orThrow, type Removal, type SessionNews, type Sessions } from '@holdfast/protocol'
import { aSession, aTool, call, createGate, isRecord, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { spokenIn, talkTo } from '../../testing/talk.ts'
import { createLocalSessions } from '../api/local-sessions.ts'

const answering = () => [say('Hi.')]
const prompt = { type: 'sendPrompt', content: 'go' } as const

async function openSpoken() {
  const runtime = await openMemoryRuntime({ script: answering })
  await talkTo(runtime.handle).ask('Hello')
  return { ...runtime, sessions: createLocalSessions(runtime.registry) }
}

async function openRunning() {
  const gate = createGate()
  const runtime = await openMemoryRuntime({ script: [[waitAt(gate)]] })
  await runtime.send('a', prompt)
  await gate.reached
  return { ...runtime, sessions: createLocalSessions(runtime.registry) }
}

async function openAsking() {
  const runtime = await openMemoryRuntime({
    script: [[call('touch', {})]],
    tools: [aTool('touch', () => Promise.reject(new Error('never runs')))],
  })
  await runtime.send('a', prompt)
  await runtime.frame(isRecord('approval.asked'))
  return { ...runtime, sessions: createLocalSessions(runtime.registry) }
}

const codeOf = (result: { readonly ok: boolean; readonly fault?: { readonly code: string } }) =>
  result.ok ? 'ok' : result.fault?.code

describe('deleting a session', () => {
  it('moves it to the trash, even if it is loaded and pinned', async () => {
    const { sessions, handle, registry } = await openSpoken()
    await handle.submit({ type: 'pinSession' })
    const removal = orThrow(await sessions.delete(aSession))
    expect(removal).toEqual({
      count: 1,
      gone: [{ id: aSession, handle: 'calm-harbor-1', title: 'Hello' }],
      workspaces: [{ workspace: '/work', count: 1 }],
      stayed: [],
      dryRun: false,
    })
    expect(registry.loaded(aSession)).toBeNull()
    expect(orThrow(await sessions.list()).sessions).toEqual([])
    const [trashed] = orThrow(await sessions.list({ trashed: true })).sessions
    expect([trashed?.id, trashed?.trashedAt]).toEqual([aSession, '2026-01-01T00:00:00.000Z'])
  })

  it('refuses to open, load or command it until it is restored, and loses nothing', async () => {
    const { sessions, handle } = await openSpoken()
    const words = await talkTo(handle).words()
    await sessions.delete('calm-harbor-1')
    const refused = await sessions.open('calm-harbor-1')
    expect(refused).toMatchObject({ fault: { code: 'session_trashed', details: { session: aSession } } })
    expect(refused.ok ? '' : refused.fault.message).toContain('holdfast trash restore calm-harbor-1')
    expect(codeOf(await handle.submit(prompt))).toBe('session_trashed')
    expect(codeOf(await sessions.delete(aSession))).toBe('session_trashed')

    const meta = orThrow(await sessions.restore('calm-harbor-1'))
    expect([meta.id, meta.trashedAt]).toEqual([aSession, undefined])
    expect(await talkTo(orThrow(await sessions.open(aSession))).words()).toEqual(words)
    await talkTo(handle).ask('Still there?')
  })

  it('notifies clients that follow all sessions, on trash and on restore', async () => {
    const { sessions } = await openSpoken()
    const published: SessionNews[] = []
    const stop = new AbortController()
    const following = (async () => {
      for await (const news of sessions.subscribe({ signal: stop.signal })) {
        published.push(news)
        if (news.type === 'session.restored') stop.abort()
      }
    })()
    await sessions.delete(aSession)
    await sessions.restore(aSession)
    await following
    expect(published.map(({ type }) => type)).toEqual(['session.stopped', 'session.removed', 'session.restored'])
  })

  it('is refused while a turn runs, and ends it if forced', async () => {
    const { sessions, handle, events } = await openRunning()
    expect(codeOf(await sessions.delete(aSession))).toBe('turn_running')
    expect(codeOf(await sessions.delete(aSession, { dryRun: true }))).toBe('turn_running')
    expect(await events()).not.toContain('turn.ended')

    expect(orThrow(await sessions.delete(aSession, { force: true })).count).toBe(1)
    expect((await events()).at(-1)).toBe('turn.ended')
    orThrow(await sessions.restore(aSession))
    const { view } = orThrow(await handle.snapshot())
    expect(view.lastTurn).toEqual({ reason: 'aborted' })
  })

  it('is refused while a question is open, loaded or not', async () => {
    const { sessions, registry } = await openAsking()
    expect(codeOf(await sessions.delete(aSession))).toBe('turn_running')
    await registry.unload(aSession)
    expect(codeOf(await sessions.delete(aSession))).toBe('turn_running')
    expect(orThrow(await sessions.delete(aSession, { force: true })).count).toBe(1)
  })

  it('is refused while a client is attached; forced, it ends their streams', async () => {
    const { sessions, handle } = await openSpoken()
    const frames: Frame[] = []
    const attached = Promise.withResolvers<void>()
    const watching = (async () => {
      for await (const frame of handle.subscribe({ client: 'tui' })) {
        frames.push(frame)
        attached.resolve()
      }
    })()
    await attached.promise
    expect(codeOf(await sessions.delete(aSession))).toBe('session_in_use')
    orThrow(await sessions.delete(aSession, { force: true }))
    await watching
    expect(frames.at(-1)).toMatchObject({ type: 'end', reason: 'stopped', retryMs: null })
  })

  it('is refused for a session open in a live process, even if forced, and takes it over from a dead one', async () => {
    const store = createMemoryStore()
    const one = await openMemoryRuntime({ store, script: answering })
    await store.registerNode(one.registry.deps.node)
    await talkTo(one.handle).ask('Hello')
    const beside = await openMemoryRuntime({ store, takesOver: true, node: 'two', living: ['one', 'two'] })
    const locked = await createLocalSessions(beside.registry).delete(aSession, { force: true })
    expect(locked).toMatchObject({ fault: { code: 'session_locked', details: { node: 'one' } } })

    const after = await openMemoryRuntime({ store, takesOver: true, node: 'three' })
    expect(orThrow(await createLocalSessions(after.registry).delete(aSession)).count).toBe(1)
  })

  it('changes nothing in a dry run', async () => {
    const { sessions, store, registry, events } = await openSpoken()
    const before = [await store.entry(aSession), await events()]
    expect(orThrow(await sessions.delete(aSession, { dryRun: true }))).toMatchObject({ count: 1, dryRun: true })
    expect([await store.entry(aSession), await events()]).toEqual(before)
    expect(registry.loaded(aSession)).not.toBeNull()
  })

  it('removes a session without a prompt completely', async () => {
    const runtime = await openMemoryRuntime()
    const sessions = createLocalSessions(runtime.registry)
    expect(orThrow(await sessions.delete(aSession)).count).toBe(1)
    expect(await runtime.store.entry(aSession)).toBeNull()
    expect(orThrow(await sessions.list({ trashed: true })).sessions).toEqual([])
  })

  it('delays concurrent loads of the session, and then refuses them', async () => {
    const gate = createGate()
    const store = createMemoryStore()
    const trash: typeof store.trash = async (...args) => {
      await gate.pass()
      return store.trash(...args)
    }
    const runtime = await openMemoryRuntime({ store: { ...store, trash }, script: answering })
    await talkTo(runtime.handle).ask('Hello')
    const deleting = createLocalSessions(runtime.registry).delete(aSession)
    await gate.reached
    const late = runtime.handle.submit(prompt)
    gate.open()
    expect(orThrow(await deleting).count).toBe(1)
    expect(codeOf(await late)).toBe('session_trashed')
  })

  it('does not change its forks', async () => {
    const { sessions, handle } = await openSpoken()
    const { session } = await talkTo(handle).send({ type: 'fork' })
    orThrow(await sessions.delete(aSession))
    orThrow(await sessions.emptyTrash())
    const fork = talkTo(orThrow(await sessions.open(String(session))))
    expect(await fork.words()).toEqual(['Hello', 'Hi.'])
    await fork.ask('Go on')
  })

  it('refuses an unknown session and unknown options', async () => {
    const { sessions } = await openSpoken()
    expect(codeOf(await sessions.delete('cold-harbor-9'))).toBe('session_not_found')
    expect(codeOf(await sessions.restore('cold-harbor-9'))).toBe('session_not_found')
    expect(codeOf(await sessions.delete('../x'))).toBe('bad_id')
    expect(codeOf(await sessions.delete(aSession, { now: true } as object))).toBe('bad_request')
  })
})

const dayMs = 24 * 3_600_000

/** Opens a runtime with one spoken session; a test advances its clock. */
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

  it('goes by the time of the last message, not of the last change', async () => {
    const { sessions, handle, clock, daysAgo } = await openOld()
    clock.advance(31 * dayMs)
    await handle.submit({ type: 'rename', title: 'Renamed today' })
    expect(orThrow(await sessions.prune({ before: daysAgo(30) })).count).toBe(1)
  })

  it('affects only the given workspace', async () => {
    const { sessions, clock, daysAgo } = await openOld()
    await spokenIn(sessions, { workdir: '/other' })
    clock.advance(31 * dayMs)
    const removal = orThrow(await sessions.prune({ before: daysAgo(30), workspace: '/other' }))
    expect(removal.gone.map(({ handle }) => handle)).toEqual(['calm-harbor-2'])
    expect(await handlesOf(sessions)).toEqual(['calm-harbor-1'])
  })

  it('keeps and names sessions that are pinned, running, attached or open elsewhere', async () => {
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

  it('includes sessions that a dead process left open', async () => {
    const store = createMemoryStore()
    const dead = await openMemoryRuntime({ store, script: () => [say('Hi.')] })
    await store.registerNode(dead.registry.deps.node)
    await talkTo(dead.handle).ask('Hello')
    const next = await openMemoryRuntime({ store, takesOver: true, node: 'two' })
    expect(orThrow(await createLocalSessions(next.registry).clearAll()).count).toBe(1)
    expect((await store.entry(aSession))?.owner).toBeNull()
  })

  it('keeps a session that gets a prompt after it was listed', async () => {
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

  it('reports what it would trash and changes nothing in a dry run', async () => {
    const { sessions, store, events, registry, clock, daysAgo } = await openOld()
    const pinned = await spokenIn(sessions)
    await pinned.submit({ type: 'pinSession' })
    const seen = async () => [await store.list({ limit: 10 }), await store.entry(aSession), await events()]
    clock.advance(31 * dayMs)
    await Promise.all([aSession, pinned.id].map(registry.unload)) // they have been idle for days
    const before = await seen()
    const tried = orThrow(await sessions.prune({ before: daysAgo(30), dryRun: true }))
    expect([tried.count, tried.dryRun, reasonsOf(tried)]).toEqual([1, true, ['calm-harbor-2 pinned']])
    expect(orThrow(await sessions.clearAll({ dryRun: true })).count).toBe(1)
    expect(await seen()).toEqual(before)
    const done = orThrow(await sessions.prune({ before: daysAgo(30) }))
    expect({ ...done, dryRun: true }).toEqual(tried)
  })

  it('handles more sessions than fit in a page', async () => {
    const { sessions, store } = await openOld()
    const entry = (await store.entry(aSession))?.entry
    const records = await store.read(aSession, { after: 0, limit: 1 })
    for (let born = 0; born < 250; born++) {
      const id = `ses_01k5${String(born).padStart(22, '0')}` as typeof aSession
      if (!entry) throw new Error('there is one')
      const meta = { ...entry.meta, id, handle: `cold-harbor-${born}` as typeof entry.meta.handle }
      orThrow(
        await store.create({
          session: id,
          parent: null,
          base: 0,
          owner: 'one',
          blobs: [],
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
