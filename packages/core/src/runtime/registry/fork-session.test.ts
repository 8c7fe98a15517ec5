import { limits, orThrow, SessionId } from '@holdfast/protocol'
import { aSession, say, type TestRuntime } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { lastTexts } from '../../testing/request-texts.ts'
import { type Talk, talkTo } from '../../testing/talk.ts'
import { createLocalSession } from '../api/local-session.ts'

let runtime: TestRuntime
let talk: Talk
beforeEach(async () => {
  runtime = await openMemoryRuntime({ script: (_, index) => [say(`answer ${index}`)] })
  talk = talkTo(runtime.handle)
})

describe('a fork', () => {
  const fork = async (at?: number) => {
    const { session } = await talk.send({ type: 'fork', ...(at !== undefined && { at }) })
    const handle = createLocalSession(runtime.registry, SessionId.parse(session))
    return { handle, talk: talkTo(handle), id: SessionId.parse(session) }
  }
  beforeEach(async () => {
    for (const text of ['one', 'two']) await talk.ask(text)
  })

  it('shares the past and goes its own way', async () => {
    const forked = await fork(0)
    expect(await forked.talk.words()).toEqual(['one', 'answer 0'])
    await forked.talk.ask('elsewhere')
    expect(lastTexts(runtime)).toEqual(['one', 'answer 0', 'elsewhere'])
    expect(await forked.talk.words()).toEqual(['one', 'answer 0', 'elsewhere', 'answer 2'])
    expect(await talk.words()).toEqual(['one', 'answer 0', 'two', 'answer 1'])
  })

  it('starts at the last ended turn by default, and is listed with its parent', async () => {
    const forked = await fork()
    expect(await forked.talk.words()).toEqual(['one', 'answer 0', 'two', 'answer 1'])
    const { meta } = orThrow(await forked.handle.snapshot())
    expect(meta).toMatchObject({ parent: aSession, turnCount: 2, messageCount: 4, title: 'one (fork)', preview: 'one' })
    const { sessions } = await runtime.store.list({ limit: 10 })
    expect(sessions.map((row) => row.meta.id)).toContain(forked.id)
  })

  it('of a fork reads from both', async () => {
    const first = await fork(0)
    await first.talk.ask('elsewhere')
    const { session } = await first.talk.send({ type: 'fork' })
    const second = talkTo(createLocalSession(runtime.registry, SessionId.parse(session)))
    expect(await second.words()).toEqual(['one', 'answer 0', 'elsewhere', 'answer 2'])
    const { session: early } = await first.talk.send({ type: 'fork', at: 0 })
    const third = createLocalSession(runtime.registry, SessionId.parse(early))
    expect(orThrow(await third.snapshot()).meta.parent).toBe(first.id) // although all shared records are of the first session
    expect(await second.send({ type: 'branchAt', turn: 0 })).toEqual({ branch: 'branch-1' })
    expect(await second.words()).toEqual(['one', 'answer 0'])
  })

  it('inherits everything its parent was started with, except the handle and the key', async () => {
    const options = { tools: [], readOnly: true, instructions: 'be brief', providerOptions: { made: { a: 1 } } }
    const started = orThrow(await runtime.registry.start({ workdir: '/work', key: 'mine', ...options }))
    const parent = talkTo(createLocalSession(runtime.registry, started.id))
    await parent.ask('one')
    const { session } = await parent.send({ type: 'fork' })
    const forked = orThrow(await runtime.registry.load(SessionId.parse(session)))
    const { handle, key, parent: above, ...inherited } = forked.folded().state.origin ?? {}
    const { handle: itsHandle, key: itsKey, parent: none, ...given } = started.folded().state.origin ?? {}
    expect(inherited).toEqual(given)
    expect([above, none]).toEqual([started.id, null])
    expect([handle, key]).not.toEqual([itsHandle, itsKey])
    expect(given).toMatchObject({ ...options, persist: true })
  })

  it('inherits pins and compactions, but not trust or waiting prompts', async () => {
    const [first] = orThrow(await runtime.handle.page()).messages
    await talk.send({ type: 'togglePin', message: first?.id ?? 0 })
    await talk.send({ type: 'setToolTrust', tool: 'mcp__files__touch', scope: 'session' })
    const { view } = orThrow(await (await fork()).handle.snapshot())
    expect(view).toMatchObject({ pins: [first?.id], trust: [], queue: [] })
  })

  it('does not inherit later pins or compactions', async () => {
    for (let turn = 2; turn < 6; turn++) await talk.ask(`turn ${turn}`)
    const last = orThrow(await runtime.handle.page()).messages.findLast(({ kind }) => kind === 'user')
    await talk.send({ type: 'togglePin', message: last?.id ?? 0 })
    await talk.send({ type: 'setSummary', summary: 'much later' })
    const { handle, talk: forked } = await fork(0)
    expect(orThrow(await handle.snapshot()).view).toMatchObject({ pins: [], checkpoint: null })
    await forked.ask('elsewhere')
    expect(lastTexts(runtime)).toEqual(['one', 'answer 0', 'elsewhere'])
  })

  it('asked for twice under one id is one session', async () => {
    const ask = () => runtime.send('same', { type: 'fork' })
    expect(orThrow(await ask()).result).toEqual(orThrow(await ask()).result)
    expect((await runtime.store.list({ limit: 10 })).sessions).toHaveLength(2)
  })

  it('that a crash prevented is created when it is requested again', async () => {
    const store = createMemoryStore()
    let isFull = false
    runtime = await openMemoryRuntime({
      store: {
        ...store,
        create: (...args) => (isFull ? Promise.reject(new Error('killed')) : store.create(...args)),
      },
      script: (_, index) => [say(`answer ${index}`)],
    })
    talk = talkTo(runtime.handle)
    await talk.ask('one')
    isFull = true
    await expect(runtime.send('same', { type: 'fork' })).rejects.toThrow('killed')
    isFull = false
    const { result } = orThrow(await runtime.send('same', { type: 'fork' }))
    expect(await talkTo(createLocalSession(runtime.registry, SessionId.parse(result['session']))).words()).toEqual([
      'one',
      'answer 0',
    ])
  })

  it('writes little, however long the past', async () => {
    const messages = Array.from({ length: limits.seedMessagesMax }, (_, index) => ({
      role: 'user' as const,
      content: `message ${index}`,
    }))
    for (let times = 0; times < 5; times++) await talk.send({ type: 'seedMessages', messages })
    const before = (await runtime.events()).length
    const forked = await fork()
    const records = await runtime.store.read(forked.id, { after: 0, limit: 1, newestFirst: true })
    expect(JSON.stringify(records).length).toBeLessThan(10_000)
    expect(before).toBeGreaterThan(0)
  })
})
