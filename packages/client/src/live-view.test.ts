import { ClientId, messageOf, type SessionHandle, StepId, Trust } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { createLiveView, type LiveView } from './live-view.ts'
import { createFakeHandle } from './testing/fake-handle.ts'
import { end, message, record, recorded, sessionId, snapshot } from './testing/story.ts'

/** Resolves once the view looks as wanted, at the change that made it so. */
function until(live: LiveView, isWanted: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!isWanted()) return
      stop()
      resolve()
    }
    const stop = live.subscribe(check)
    check()
  })
}

const here = {
  clients: [],
  storageError: null,
  credentialsConfigured: true,
  contextTokens: 32_000,
  workspaceTrust: [Trust.parse({ tool: 'shell', scope: 'workspace' })],
}
const ids = (live: LiveView) => live.messages.map(({ id }) => id)
const first = snapshot(10, { messages: [9, 10].map(message), before: message(9).id })

async function open() {
  const fake = createFakeHandle()
  const live = createLiveView(fake.handle)
  fake.give(first)
  await until(live, () => live.seq === 10)
  return { fake, live }
}

describe('a live view', () => {
  it("is empty until the snapshot, then shows the session's state", async () => {
    const fake = createFakeHandle()
    const live = createLiveView(fake.handle)
    expect([live.connection.state, live.meta, live.view, live.messages]).toEqual(['connecting', null, null, []])
    fake.give(first)
    await until(live, () => live.seq === 10)
    expect([live.connection.state, live.meta, ids(live), live.hasOlder]).toEqual(['live', first.meta, [9, 10], true])
    live.close()
  })

  it('applies records to transcript, view and metadata', async () => {
    const { fake, live } = await open()
    const version = live.version
    const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, cost: 0 }
    fake.give(
      record(11),
      recorded(12, { type: 'turn.started', turn: 0, cause: 'prompt' }),
      recorded(13, { type: 'settings.changed', title: 'Renamed' }),
      recorded(14, { type: 'step.ended', turn: 0, step: 12, finish: 'stop', usage }),
    )
    await until(live, () => live.seq === 14)
    expect(ids(live)).toEqual([9, 10, 11, 14])
    expect(live.view?.status).toBe('thinking')
    expect(live.meta).toMatchObject({ title: 'Renamed', status: 'thinking', usage: { input: 3, output: 4 } })
    expect(live.version).toBe(version + 4)
    live.close()
  })

  it('uses the first prompt as its title, as the list does', async () => {
    const fake = createFakeHandle()
    const live = createLiveView(fake.handle)
    fake.give(snapshot(1, { meta: aMeta({ title: '' }) }), record(2))
    await until(live, () => live.seq === 2)
    expect(live.meta).toMatchObject({ title: 'message 2', preview: 'message 2', messageCount: 1 })
    live.close()
  })

  it('shows streaming parts and attached clients', async () => {
    const { fake, live } = await open()
    const step = StepId.parse(11)
    fake.give(
      { type: 'delta', sessionId, step, part: 0, kind: 'text', index: 0, text: 'Hel' },
      { type: 'delta', sessionId, step, part: 0, kind: 'text', index: 1, text: 'lo' },
      { type: 'presence', sessionId, clients: [{ client: ClientId.parse('tab-1'), role: 'driver' }] },
    )
    await until(live, () => live.presence.length === 1)
    expect(live.live[0]?.text).toBe('Hello')
    expect([live.subscriberRole('tab-1'), live.subscriberRole('tab-2')]).toEqual(['driver', null])
    live.close()
  })

  it('subscribes and submits commands with one client id, given or random', async () => {
    const fake = createFakeHandle()
    const given = createLiveView(fake.handle, { client: 'tab-1', role: 'viewer' })
    expect(fake.subscriptions[0]?.options).toMatchObject({ client: 'tab-1', role: 'viewer' })
    await given.submit({ type: 'abort' }, { commandId: 'c1' })
    expect(fake.submitted).toEqual([[{ type: 'abort' }, { commandId: 'c1', as: 'tab-1' }]])
    const own = createLiveView(fake.handle)
    expect(ClientId.safeParse(own.client).success).toBe(true)
    expect(fake.subscriptions[1]?.options.client).toBe(own.client)
    given.close()
    own.close()
  })

  it('reloads the process state when workspace trust may have changed', async () => {
    const { fake, live } = await open()
    expect(live.here).toEqual(first.here)
    fake.setState(snapshot(12, { here }))
    fake.give(recorded(11, { type: 'settings.changed', title: 'Renamed' }), record(12))
    await until(live, () => live.seq === 12)
    expect(live.here).toEqual(first.here)
    fake.setState(snapshot(13, { here }))
    fake.give(recorded(13, { type: 'trust.granted', tool: 'shell', scope: 'workspace' }))
    await until(live, () => live.here?.workspaceTrust.length === 1)
    expect(live.here?.contextTokens).toBe(200_000) // of the model only the stream tells
    live.close()
  })

  it('replaces the model status when the model changes', async () => {
    const { fake, live } = await open()
    const known = { credentialsConfigured: true, contextTokens: 32_000 } as const
    fake.give({ type: 'model', sessionId, ...known, takes: ['image/*'], endpoint: 'http://here' })
    await until(live, () => live.here?.takes !== undefined)
    expect(live.here).toMatchObject({ ...known, endpoint: 'http://here', workspaceTrust: [] })
    fake.give({ type: 'model', sessionId, ...known, credentialsConfigured: false })
    await until(live, () => live.here?.credentialsConfigured === false)
    expect(live.here).toEqual({ ...first.here, ...known, credentialsConfigured: false })
    live.close()
  })

  it('shows the storage error of the stream, not of an older snapshot', async () => {
    const { fake, live } = await open()
    const error = { reason: 'disk_full', message: 'The disk is full.' }
    expect(live.storageError).toBeNull()
    fake.give({ type: 'storage', sessionId, error })
    await until(live, () => live.storageError !== null)
    expect([live.storageError, live.here?.storageError]).toEqual([error, error])
    fake.setState(snapshot(11, { here }))
    fake.give(recorded(11, { type: 'trust.granted', tool: 'shell', scope: 'workspace' }))
    await until(live, () => live.here?.workspaceTrust.length === 1)
    expect([live.storageError, live.here?.storageError]).toEqual([error, error])
    fake.give({ type: 'storage', sessionId, error: null })
    await until(live, () => live.storageError === null)
    expect(live.here?.storageError).toBeNull()
    fake.give(snapshot(12, { here: { ...here, storageError: error } }))
    await until(live, () => live.storageError !== null)
    live.close()
  })

  it('prepends older pages, one request at a time', async () => {
    const { fake, live } = await open()
    const [one, two] = [live.loadOlder(), live.loadOlder()]
    expect(await one).toEqual({ ok: true, value: null })
    expect(await two).toEqual({ ok: true, value: null })
    expect([fake.pages, ids(live)]).toEqual([[{ before: 9 }], [5, 6, 7, 8, 9, 10]])
    await live.loadOlder()
    await live.loadOlder()
    expect([ids(live).length, live.hasOlder, fake.pages.length]).toEqual([10, false, 2])
    live.close()
  })

  it('drops a page when a new snapshot arrived first', async () => {
    const fake = createFakeHandle()
    const overtaken = Promise.withResolvers<void>()
    const page: SessionHandle['page'] = async (request) => {
      await overtaken.promise
      return fake.handle.page(request)
    }
    const live = createLiveView({ ...fake.handle, page })
    fake.give(first)
    await until(live, () => live.seq === 10)
    const late = live.loadOlder()
    fake.give(snapshot(20, { messages: [message(20)], before: null }))
    await until(live, () => live.seq === 20)
    overtaken.resolve()
    await late
    expect([ids(live), live.hasOlder]).toEqual([[20], false])
    live.close()
  })

  it('loads a new snapshot after a line move, on the same stream', async () => {
    const { fake, live } = await open()
    const to = [
      { from: 1, to: 4 },
      { from: 12, to: null },
    ]
    fake.setState(snapshot(12, { messages: [3, 4, 12].map(message), before: message(3).id }))
    fake.give(
      recorded(11, {
        type: 'line.moved',
        to,
        turns: 1,
        messages: 2,
        tokens: 9,
        last: null,
        checkpoint: null,
        name: null,
        keep: { name: 'branch-1', turns: 2, messages: 3 },
        why: 'rewind',
      }),
      record(12), // the snapshot holds it already
      record(13),
    )
    await until(live, () => ids(live).join() === '3,4,12,13')
    expect(fake.subscriptions).toHaveLength(1)
    live.close()
  })

  it('shows an answer once if the snapshot after a line move has it before the stream brings it', async () => {
    const { fake, live } = await open()
    const step = StepId.parse(13)
    const said = recorded(14, { type: 'text.said', turn: 1, step: 13, provider: 'demo', text: 'Hello' })
    const ended = recorded(15, { type: 'step.ended', turn: 1, step: 13, finish: 'stop', usage: null })
    const messages = [said, ended].flatMap(({ record }) => messageOf(record, null) ?? [])
    fake.setState(snapshot(15, { messages: [message(4), message(12), ...messages] }))
    const shown: string[] = []
    live.subscribe(() => shown.push(...live.live.map(({ text }) => text)))
    fake.give(
      recorded(11, {
        type: 'line.moved',
        to: [{ from: 1, to: 4 }],
        turns: 1,
        messages: 2,
        tokens: 9,
        last: null,
        checkpoint: null,
        name: null,
        keep: { name: 'branch-1', turns: 2, messages: 3 },
        why: 'rewind',
      }),
      record(12),
      { type: 'delta', sessionId, step, part: 0, kind: 'text', index: 0, text: 'Hel' },
      { type: 'draft', sessionId, step, index: 1, parts: [{ step, part: 0, kind: 'text', text: 'Hello' }] },
      ...[said, ended, record(16)],
    )
    await until(live, () => live.seq === 16)
    expect([ids(live), shown]).toEqual([[4, 12, 14, 15, 16], []])
    live.close()
  })

  it('shows that the session ended', async () => {
    const { fake, live } = await open()
    fake.give(end('stopped', null))
    await until(live, () => live.connection.state === 'ended')
    expect(ids(live)).toEqual([9, 10])
  })

  it('notifies no listener after close', async () => {
    const { fake, live } = await open()
    let calls = 0
    live.subscribe(() => calls++)
    live.close()
    fake.give(record(11))
    expect(await live.loadOlder()).toMatchObject({ ok: false })
    expect([calls, live.seq, fake.subscriptions[0]?.options.signal?.aborted]).toEqual([0, 10, true])
  })
})
