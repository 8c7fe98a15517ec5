import { type ConnectOptions, connectSessions, createLiveView, createSession } from '@holdfast/client'
import { CommandId, type Frame, invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openServer, type ServerOptions } from './open-server.ts'
import { meta, sessionId } from './testing/fake-sessions.ts'
import { openTestServer } from './testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openTestServer>>

async function openRemote(test: Test, options: Partial<ConnectOptions> = {}) {
  const token = test.tokens.driver
  const sessions = connectSessions({ url: test.server.url, token, pace: { chance: () => 0 }, ...options })
  const handle = await sessions.open(meta.handle)
  invariant(handle.ok, 'the session opens')
  return { sessions, handle: handle.value }
}

const word = (frame: Frame) => (frame.type === 'record' ? frame.record.seq : frame.type)

describe('a remote session', () => {
  it('behaves like the local session for all four methods', async () => {
    await using test = await openTestServer()
    const { sessions, handle } = await openRemote(test)
    expect(handle.id).toBe(sessionId)
    expect(await sessions.list()).toEqual(await test.fake.sessions.list())
    expect(await handle.submit({ type: 'sendPrompt', content: 'hi' })).toEqual({
      ok: true,
      value: { seq: 1, result: { did: 'sendPrompt' } },
    })
    expect(await handle.snapshot()).toEqual(await test.fake.handle.snapshot())
    expect(await handle.page()).toEqual(await test.fake.handle.page())
    expect(await handle.submit({ type: 'continue' })).toEqual(await test.fake.handle.submit({ type: 'continue' }))
    const started = await sessions.start({ workdir: '/tmp/w' })
    expect(started).toMatchObject({ ok: true, value: { id: sessionId } })
    expect(await sessions.start({ workdir: '/missing' })).toMatchObject({ ok: false, fault: { code: 'bad_workdir' } })
    for await (const frame of handle.subscribe()) {
      expect(frame).toEqual((await test.fake.handle.snapshot().then((result) => result.ok && result.value)) || null)
      break
    }
    await test.fake.left
  })

  it('misses and repeats no record across server restarts', async () => {
    const test = await openTestServer()
    const { handle } = await openRemote(test, { pace: { wait: async () => {} } })
    const options: ServerOptions = {
      sessions: test.fake.sessions,
      host: '127.0.0.1',
      port: test.server.port,
      tokens: [{ hash: (await import('../tokens/token-secret.ts')).hashToken(test.tokens.driver), role: 'driver' }],
      pageDir: null,
      version: '2',
      now: () => 0,
      onProblem: () => {},
    }
    let server = test.server
    const seen: unknown[] = []
    for await (const frame of handle.subscribe()) {
      seen.push(word(frame))
      if (seen.length === 6) break
      const seq = test.fake.say('while it is up').seq
      if (seq % 2 === 1) continue
      await server.close()
      const again = await openServer(options)
      invariant(again.ok, 'the server opens again')
      server = again.value
    }
    await server.close()
    expect(seen).toEqual(['snapshot', 1, 2, 3, 4, 5])
  })

  it('runs a command once even if its answer was lost', async () => {
    await using test = await openTestServer()
    let lost = 0
    const { handle } = await openRemote(test, {
      pace: { wait: async () => {} },
      async fetch(input, init) {
        const response = await fetch(input, init)
        if (init?.method !== 'POST' || lost > 1) return response
        lost++
        throw new TypeError('connection reset')
      },
    })
    expect(await handle.submit({ type: 'sendPrompt', content: 'once' })).toMatchObject({ ok: true, value: { seq: 1 } })
    expect([lost, test.fake.records.length]).toEqual([2, 1])
    const commandId = CommandId.parse('mine')
    const first = await handle.submit({ type: 'abort' }, { commandId })
    expect(await handle.submit({ type: 'abort' }, { commandId })).toEqual(first)
  })

  it('streams live and accepts commands by handle', async () => {
    await using test = await openTestServer()
    const { handle } = await openRemote(test)
    const session = createSession(handle)
    const live = createLiveView(handle)
    const shown = new Promise<void>((resolve) => {
      live.subscribe(() => live.messages.length === 2 && resolve())
    })
    await session.sendPrompt('one')
    await session.sendPrompt('two')
    await shown
    expect([live.connection, live.seq]).toEqual([{ state: 'live' }, 2])
    expect(await session.messages()).toEqual(live.messages)
    live.close()
    await test.fake.left
  })

  it('explains why it cannot be opened', async () => {
    await using test = await openTestServer()
    const { sessions } = await openRemote(test)
    expect(await sessions.open('cold-harbor-1')).toMatchObject({ ok: false, fault: { code: 'session_not_found' } })
    expect(await sessions.open('../x')).toMatchObject({ ok: false, fault: { code: 'bad_id' } })
    const stranger = connectSessions({ url: test.server.url, token: 'wrong' })
    expect(await stranger.open(sessionId)).toMatchObject({ ok: false, fault: { code: 'unauthorized' } })
    await test.server.close()
    expect(await sessions.health()).toMatchObject({ ok: false, fault: { code: 'unreachable' } })
  })
})
