import { CreatedToken, invariant, orThrow, SessionId, StreamFrame } from '@holdfast/protocol'
import { createParser } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import { createLiveTokens } from '../../../tokens/live-tokens.ts'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

/** Decodes a stream of several sessions. */
async function* decode(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamFrame> {
  const decoder = new TextDecoder()
  const events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => events.push(data) })
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }))
    for (const data of events.splice(0)) yield StreamFrame.parse(JSON.parse(data))
  }
}

/** Opens a stream and reads its id. */
async function openStream(test: Test, token: string = test.tokens.driver, query = '') {
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await test.call(`/v1/stream${query}`, { headers, signal: gone.signal })
  invariant(response.body, 'a stream has a body')
  const frames = decode(response.body)
  const first = (await frames.next()).value
  invariant(first?.type === 'stream', 'a stream begins with its id')
  const send = (what: string, body: object, as = token) =>
    test.call(`/v1/stream/${first.stream}/${what}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, authorization: `Bearer ${as}` },
    })
  /** Returns the first frame that fits. */
  const until = async (fits: (frame: StreamFrame) => boolean): Promise<StreamFrame> => {
    for (;;) {
      const { value, done } = await frames.next()
      if (done) throw new Error('the stream ended')
      if (fits(value)) return value
    }
  }
  return { frames, send, until, leave: () => gone.abort() }
}

const of = (id: string, type: string) => (frame: StreamFrame) =>
  frame.type === type && 'sessionId' in frame && frame.sessionId === id

const plan = (test: Test, id: string) => test.post(`/v1/sessions/${id}/commands`, '{"type":"enterPlan"}')
const exec = (test: Test, id: string) => test.post(`/v1/sessions/${id}/commands`, '{"type":"enterExec"}')

async function openTwo() {
  const test = await openRuntimeServer()
  const other = orThrow(await test.sessions.start({ model: 'sim/model' }))
  return { test, one: test.runtime.handle.id, two: other.id }
}

describe('GET /v1/stream', () => {
  it('carries the frames of all followed sessions and the news of all, until a session is dropped', async () => {
    const { test, one, two } = await openTwo()
    const { send, until, leave } = await openStream(test)
    for (const session of [one, two]) {
      const answer = await send('follow', { session })
      expect([answer.status, await answer.json()]).toEqual([200, { session }])
      await until(of(session, 'snapshot'))
    }
    await plan(test, two)
    await plan(test, one)
    await until(of(two, 'record'))
    await until(of(one, 'record'))
    await exec(test, one)
    await until(
      (frame) => frame.type === 'session.changed' && frame.session.id === one && frame.session.mode === 'exec',
    )

    expect((await send('unfollow', { session: two })).status).toBe(200)
    expect(await until(of(two, 'end'))).toMatchObject({ reason: 'left', retryMs: null })
    expect(await codeOf(await send('unfollow', { session: two }))).toBe('not_subscribed')
    await exec(test, two)
    await plan(test, one)
    await until((frame) => {
      expect('sessionId' in frame ? frame.sessionId : one).toBe(one)
      return of(one, 'record')(frame)
    })
    leave()
    await test[Symbol.asyncDispose]()
  })

  it('replays from a cursor what was missed, each record once and in order', async () => {
    const { test, one } = await openTwo()
    for (let times = 0; times < 5; times += 1) await (times % 2 ? exec : plan)(test, one)
    const { send, frames, leave } = await openStream(test, test.tokens.viewer, '?news=false')
    await send('follow', { session: one, after: 1 })
    const seqs: number[] = []
    for await (const frame of frames) {
      if (frame.type === 'record') seqs.push(frame.record.seq)
      if (seqs.length === 5) await exec(test, one)
      if (seqs.length === 6) break
    }
    expect(seqs).toEqual([2, 3, 4, 5, 6, 7])
    leave()
    await test[Symbol.asyncDispose]()
  })

  it('gives control as the stream of one session does, and gives it back when the session is dropped', async () => {
    const { test, one } = await openTwo()
    const driver = await openStream(test)
    const viewer = await openStream(test, test.tokens.viewer)
    await driver.send('follow', { session: one, attachment: 'a' })
    await viewer.send('follow', { session: one, attachment: 'b', role: 'driver' })
    const both = [
      { client: 'a', role: 'driver' },
      { client: 'b', role: 'viewer' },
    ]
    await driver.until((frame) => frame.type === 'presence' && frame.clients.length === both.length)
    expect((await test.sessions.open(one)).ok).toBe(true)
    const state = await test.call(`/v1/sessions/${one}`)
    expect(await state.json()).toMatchObject({ here: { clients: both } })
    expect(await codeOf(await driver.send('follow', { session: one, attachment: 'b' }))).toBe('foreign_attachment')
    expect(await codeOf(await driver.send('follow', { session: one, role: 'boss' }))).toBe('invalid_role')
    expect(await codeOf(await driver.send('follow', { session: one }))).toBe('bad_request')
    await driver.send('unfollow', { session: one })
    await viewer.until((frame) => frame.type === 'presence' && frame.clients.length === 1)
    expect((await driver.send('follow', { session: one, attachment: 'a' })).status).toBe(200)
    driver.leave()
    await viewer.until((frame) => frame.type === 'presence' && frame.clients.length === 1)
    viewer.leave()
    await test[Symbol.asyncDispose]()
  })

  it('belongs to its caller, and refuses unknown streams and sessions', async () => {
    const { test, one } = await openTwo()
    const { send, leave } = await openStream(test)
    for (const what of ['follow', 'unfollow']) {
      const foreign = await send(what, { session: one }, test.tokens.admin)
      expect([foreign.status, await codeOf(foreign)]).toEqual([404, 'not_found'])
    }
    expect(await codeOf(await send('follow', { session: 'cold-harbor-1' }))).toBe('session_not_found')
    expect(await codeOf(await send('follow', { session: '../x' }))).toBe('bad_id')
    expect(await codeOf(await send('follow', { session: one, colour: 'red' }))).toBe('bad_request')
    leave()
    await test[Symbol.asyncDispose]()
  })

  it('goes on when a session stops, which can be followed again at once, and ends when the server closes', async () => {
    const { test, one } = await openTwo()
    const { send, until, frames } = await openStream(test)
    await test.post(`${test.path}/commands`, '{"type":"sendPrompt","content":"go"}') // else it is not stored
    await send('follow', { session: one })
    await until(of(one, 'snapshot'))
    await test.runtime.registry.unload(one)
    expect(await until(of(one, 'end'))).toMatchObject({ reason: 'stopped' })
    expect((await send('follow', { session: one })).status).toBe(200)
    await until(of(one, 'snapshot'))
    const closed = test.server.close()
    const last = await until((frame) => frame.type === 'end' && !('sessionId' in frame))
    expect(last).toMatchObject({ reason: 'closing', retryMs: expect.any(Number) })
    expect((await frames.next()).done).toBe(true)
    await closed
    await test[Symbol.asyncDispose]()
  })

  it('shows a token for one session only that one, and ends when the token is revoked', async () => {
    const test = await openRuntimeServer({}, undefined, {}, undefined, ({ store, clock }) =>
      createLiveTokens({
        rows: store,
        clock,
        onProblem: () => undefined,
        findSession: async (name) => ({ ok: true, value: SessionId.parse(name) }),
      }),
    )
    const one = test.runtime.handle.id
    const two = orThrow(await test.sessions.start({ model: 'sim/model' })).id
    const headers = { authorization: `Bearer ${test.tokens.admin}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'a', role: 'viewer', session: one })
    const answer = await test.call('/v1/tokens', { method: 'POST', headers, body })
    const created = CreatedToken.parse(await answer.json())
    const { send, until } = await openStream(test, created.secret)
    expect((await send('follow', { session: two })).status).toBe(404)
    expect((await send('follow', { session: one })).status).toBe(200)
    await until(of(one, 'snapshot'))
    await test.call(`/v1/tokens/${created.id}`, { method: 'DELETE', headers })
    const last = await until((frame) => frame.type === 'end' && !('sessionId' in frame))
    expect(last).toMatchObject({ reason: 'revoked', retryMs: null })
    await test[Symbol.asyncDispose]()
  })
})
