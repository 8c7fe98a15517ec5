import { ClientId, encodeFrame, type Frame, invariant, type NewsFrame, type SessionNews } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createScriptedServer, fails, json, type Reply, refused, streams } from '../testing/scripted-server.ts'
import { end, meta, record, sessionId, snapshot, view, word } from '../testing/story.ts'
import type { FollowNewsOptions } from './follow.ts'
import type { Connection, FollowOptions } from './follow-stream.ts'
import type { Pace } from './http.ts'

const opened = json({ meta, session: meta, seq: 0, view, messages: [], before: null, summary: null, here: null })

async function run(script: readonly Reply[], count: number, options: FollowOptions = {}, pace: Partial<Pace> = {}) {
  const server = createScriptedServer([opened, ...script], pace)
  const handle = await server.sessions.open(sessionId)
  invariant(handle.ok, 'the session opens')
  const frames: Frame[] = []
  const states: Connection[] = []
  for await (const frame of handle.value.subscribe({ ...options, onConnection: (state) => states.push(state) })) {
    frames.push(frame)
    if (frames.length === count) break
  }
  const paths = server.asked.slice(1).map(({ path }) => path.replace(`/v1/sessions/${sessionId}/`, ''))
  return { words: frames.map(word), paths, waits: server.waits, states, asked: server.asked }
}

describe('following a session', () => {
  it('continues after the last record when the connection breaks, without a gap or a duplicate', async () => {
    const half = 'id: 5\nevent: record\ndata: {"type":"rec'
    const { words, paths } = await run(
      [
        streams([snapshot(2), record(3), record(4), half], 'breaks'),
        streams([record(4), record(5), record(6)], 'ends'),
        streams([record(7)], 'stays'),
      ],
      6,
    )
    expect(words).toEqual(['snapshot 2', '3', '4', '5', '6', '7'])
    expect(paths).toEqual(['events', 'events?after=4', 'events?after=6'])
  })

  it('subscribes with the given cursor, client and role', async () => {
    const { words, paths } = await run([streams([record(8)])], 1, { after: 7, client: 'tab-1', role: 'viewer' })
    expect([words, paths]).toEqual([['8'], ['events?after=7&attachment=tab-1&role=viewer']])
  })

  it('comes back as a viewer if another client drove, also before that one does', async () => {
    const presence = (role: 'driver' | 'viewer'): Frame => ({
      type: 'presence',
      sessionId,
      clients: [{ client: ClientId.parse('tab-1'), role }],
    })
    const script = (role: 'driver' | 'viewer') => [
      streams([snapshot(1), presence(role)], 'breaks'),
      streams([record(2)], 'stays'),
    ]
    const watched = await run(script('viewer'), 3, { client: 'tab-1' })
    expect(watched.paths).toEqual(['events?attachment=tab-1', 'events?after=1&attachment=tab-1&role=viewer'])
    const driven = await run(script('driver'), 3, { client: 'tab-1' })
    expect(driven.paths).toEqual(['events?attachment=tab-1', 'events?after=1&attachment=tab-1'])
  })

  it('reconnects after the time the server gave, without yielding a frame', async () => {
    const script = [streams([snapshot(1), end('closing', 1234)], 'stays'), streams([record(2)], 'stays')]
    const { words, waits } = await run(script, 2)
    expect([words, waits]).toEqual([['snapshot 1', '2'], [1234]])
  })

  it('waits longer after each failure, and resets the wait after a success', async () => {
    const script = [
      refused,
      refused,
      fails('storage_error', 503),
      refused,
      streams([snapshot(1)]),
      streams([record(2)]),
    ]
    const { words, waits, states } = await run(script, 2)
    expect(words).toEqual(['snapshot 1', '2'])
    expect(waits).toEqual([188, 375, 750, 1500, 188])
    expect(states.filter(({ state }) => state === 'live')).toHaveLength(2)
    expect(states[1]).toMatchObject({ state: 'waiting', retryMs: 188, fault: { code: 'unreachable' } })
  })

  it('yields a resync and takes its cursor from the next snapshot', async () => {
    const resync: Frame = { type: 'resync', sessionId, reason: 'gone' }
    const script = [streams([resync, snapshot(3), record(4)]), streams([record(5)])]
    const { words, paths } = await run(script, 4, { after: 90 })
    expect(words).toEqual(['resync', 'snapshot 3', '4', '5'])
    expect(paths).toEqual(['events?after=90', 'events?after=4'])
  })

  it.each([
    ['session_not_found', 404],
    ['unauthorized', 401],
    ['not_driver', 403],
  ])('does not reconnect after %s', async (code, status) => {
    const { words, paths, waits, states } = await run([fails(code, status)], 9)
    expect([words, paths, waits]).toEqual([['end'], ['events'], []])
    expect(states.at(-1)).toMatchObject({ state: 'ended', fault: { code } })
  })

  it('ends when the server says not to reconnect', async () => {
    const { words, waits, states } = await run([streams([snapshot(1), end('stopped', null)], 'stays')], 9)
    expect([words, waits]).toEqual([['snapshot 1', 'end'], []])
    expect(states.at(-1)).toEqual({ state: 'ended', fault: null })
  })

  it('closes the connection when its reader stops', async () => {
    const { asked } = await run([streams([snapshot(1)], 'stays')], 1)
    expect(asked[1]?.signal?.aborted).toBe(true)
  })

  it('stops at once when aborted, connected or not', async () => {
    const stop = new AbortController()
    const leaves: Reply = (asked) => {
      setImmediate(() => stop.abort())
      return streams([snapshot(1)], 'stays')(asked)
    }
    const { words, paths, waits } = await run([leaves], 9, { signal: stop.signal })
    expect([words, paths, waits]).toEqual([['snapshot 1'], ['events'], []])
    const never = await run([], 9, { signal: AbortSignal.abort() })
    expect([never.words, never.paths]).toEqual([[], []])
  })

  it('treats a silent connection as dead', async () => {
    const mute: Reply = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError')))
      })
    const script = [mute, streams([snapshot(1)], 'stays'), streams([record(2)], 'stays')]
    const { words, paths } = await run(script, 2, {}, { silenceMs: 5 })
    expect([words, paths]).toEqual([
      ['snapshot 1', '2'],
      ['events', 'events', 'events?after=1'],
    ])
  })
})

const changed = (title: string): SessionNews => ({ type: 'session.changed', session: { ...meta, title } })
const encodeNews = (...news: readonly NewsFrame[]) =>
  news.flatMap((one) => encodeFrame(one).map((piece) => new TextDecoder().decode(piece)))

async function runNews(script: readonly Reply[], count: number, options: FollowNewsOptions = {}) {
  const server = createScriptedServer(script)
  const states: Connection[] = []
  const received: unknown[] = []
  for await (const news of server.sessions.subscribe({ ...options, onConnection: (state) => states.push(state) })) {
    received.push('reason' in news ? news.reason : typeof news.session === 'string' ? news.type : news.session.title)
    if (received.length === count) break
  }
  return { received, states: states.map(({ state }) => state), waits: server.waits, asked: server.asked }
}

describe('following all sessions', () => {
  it('reconnects after a break and reports each time that it is live', async () => {
    const stopped: SessionNews = { type: 'session.stopped', session: meta.id, reason: 'crashed', cause: 'a bug' }
    const script = [
      streams(encodeNews(changed('a'), stopped), 'breaks'),
      refused,
      streams(encodeNews(changed('b')), 'stays'),
    ]
    const { received, states, asked } = await runNews(script, 3)
    expect(received).toEqual(['a', 'crashed', 'b'])
    expect(states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'waiting', 'connecting', 'live'])
    expect(asked.map(({ path }) => path)).toEqual(['/v1/events', '/v1/events', '/v1/events'])
    expect(asked[0]?.headers.get('authorization')).toBe('Bearer token-1')
  })

  it('reconnects after the time the server gave', async () => {
    const script = [
      streams(encodeNews(changed('a'), { type: 'end', reason: 'slow', retryMs: 1234 }), 'stays'),
      streams(encodeNews(changed('b')), 'stays'),
    ]
    const { received, waits } = await runNews(script, 2)
    expect([received, waits]).toEqual([['a', 'b'], [1234]])
  })

  it('ignores unknown news, and closes the connection when its reader stops', async () => {
    const later = 'event: session.sang\ndata: {"type":"session.sang"}\n\n'
    const { received, asked } = await runNews([streams([later, ...encodeNews(changed('a'))], 'stays')], 1)
    expect(received).toEqual(['a'])
    expect(asked[0]?.signal?.aborted).toBe(true)
  })

  it('throws a final refusal', async () => {
    await expect(runNews([fails('unauthorized', 401)], 1)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('ends when aborted', async () => {
    expect((await runNews([], 1, { signal: AbortSignal.abort() })).received).toEqual([])
  })
})
