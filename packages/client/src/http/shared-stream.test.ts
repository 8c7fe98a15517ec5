import { type Frame, SessionId, SessionNews } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { connectSessions } from '../remote/connect-sessions.ts'
import { createRemoteSessionHandle } from '../remote/remote-session-handle.ts'
import { sessionId as one, record, snapshot, word } from '../testing/story.ts'
import type { Connection } from './follow-stream.ts'
import { createHttp } from './http.ts'
import { createSharedStream } from './shared-stream.ts'

const two = SessionId.parse(`ses_0${'2'.padStart(25, '0')}`)
const of = (session: SessionId, frame: Frame): Frame => ({ ...frame, sessionId: session })
const streamId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

type Open = { readonly signal: AbortSignal; readonly send: (...frames: readonly object[]) => void; end(): void }

/** A server of one shared stream. Tests send its frames. */
function createStreamServer(refuse: (path: string) => string | null = () => null) {
  const connections: Open[] = []
  const posts: string[] = []
  let told = Promise.withResolvers<void>()
  const tell = () => {
    told.resolve()
    told = Promise.withResolvers()
  }
  const fetched = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const path = new URL(String(input)).pathname
    const code = refuse(path)
    if (code !== null) return Response.json({ error: { code, message: 'a sentence' } }, { status: 400 })
    if (path !== '/v1/stream') {
      posts.push(`${path.replace('/v1/', '')} ${String(init?.body ?? '')}`)
      tell()
      return Response.json({ session: one })
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (...frames: readonly object[]) => {
          for (const frame of frames) controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`))
        }
        init?.signal?.addEventListener('abort', () => controller.error(new Error('gone')))
        connections.push({ signal: init?.signal ?? new AbortController().signal, send, end: () => controller.close() })
        send({ type: 'stream', stream: streamId(connections.length) })
        tell()
      },
    })
    return new Response(body)
  }
  const waits: number[] = []
  const pace = { wait: async (ms: number) => void waits.push(ms), chance: () => 0.5, silenceMs: 60_000 }
  const http = createHttp({ url: 'http://127.0.0.1:4820', token: undefined, fetch: fetched, pace })
  const shared = createSharedStream(http)
  const wire = { ...http, shared }
  return {
    connections,
    posts,
    shared,
    waits,
    fetched,
    pace,
    handle: (id: SessionId) => createRemoteSessionHandle(wire, id),
    async until(isTrue: () => boolean) {
      while (!isTrue()) await told.promise
    },
  }
}
const follows = (posts: readonly string[]) =>
  posts.filter((post) => post.includes('/follow')).map((post) => post.replace(/^stream\/0*-?[0-]*-4000-8000-0*/, ''))

describe('a shared stream', () => {
  it('carries several sessions and the news on one connection, and follows each from its cursor after a break', async () => {
    const server = createStreamServer()
    const left = new AbortController()
    const seen: string[] = []
    const read = async (id: SessionId) => {
      for await (const frame of server.handle(id).subscribe({ client: `tab-${id.slice(-1)}`, signal: left.signal }))
        seen.push(`${id === one ? 'one' : 'two'} ${word(frame)}`)
    }
    const reading = [read(one), read(two)]
    await server.until(() => server.posts.length === 2)
    server.connections[0]?.send(snapshot(1), of(two, snapshot(5)), record(2), of(two, record(6)))
    await expect.poll(() => seen.length).toBe(4)
    server.connections[0]?.end()
    await server.until(() => server.posts.length === 4)
    server.connections[1]?.send(record(2), record(3), of(two, record(7)))
    await expect.poll(() => seen.slice(4)).toEqual(['one 3', 'two 7'])
    expect(seen.slice(0, 4)).toEqual(['one snapshot 1', 'two snapshot 5', 'one 2', 'two 6'])
    expect(follows(server.posts).slice(2).sort()).toEqual([
      `2/follow {"session":"${two}","after":6,"attachment":"tab-2"}`,
      `2/follow {"session":"${one}","after":2,"attachment":"tab-${one.slice(-1)}"}`,
    ])
    left.abort()
    await Promise.all(reading)
    expect(server.connections).toHaveLength(2)
    expect(server.connections[1]?.signal.aborted).toBe(true) // nobody uses it
  })

  it('drops a session that is left, and follows it again only after its last frame', async () => {
    const server = createStreamServer()
    const sessions = server.shared.join({ reads: 'news', onConnection: () => undefined }) // keeps it open
    const frames = server.handle(one).subscribe()[Symbol.asyncIterator]()
    const first = frames.next()
    await server.until(() => server.posts.length === 1)
    server.connections[0]?.send(snapshot(1))
    await first
    await frames.return?.()
    const again = server.handle(one).subscribe()[Symbol.asyncIterator]()
    const second = again.next()
    await server.until(() => server.posts.length === 2)
    expect(server.posts[1]).toContain('/unfollow')
    server.connections[0]?.send(record(2), { type: 'end', sessionId: one, reason: 'left', retryMs: null })
    await server.until(() => server.posts.length === 3)
    server.connections[0]?.send(snapshot(9))
    expect(word((await second).value)).toBe('snapshot 9')
    await again.return?.()
    sessions()
  })

  it('pauses with its seats kept, and continues from the cursor; kept news still come', async () => {
    const server = createStreamServer()
    const left = new AbortController()
    const states: Connection['state'][] = []
    const seen: string[] = []
    const news: string[] = []
    const onConnection = ({ state }: Connection) => states.push(state)
    const leaveNews = server.shared.join({ reads: 'news', onConnection: () => undefined })
    const reading = [
      (async () => {
        const options = { client: 'tab-1', signal: left.signal, onConnection }
        for await (const frame of server.handle(one).subscribe(options)) seen.push(word(frame))
      })(),
      (async () => {
        for await (const one of server.shared.news(left.signal)) news.push(one.type)
      })(),
    ]
    await server.until(() => server.posts.length === 1)
    server.connections[0]?.send(snapshot(1), record(2))
    await expect.poll(() => seen.length).toBe(2)

    await server.shared.pause(true)
    expect(server.posts[1]).toBe(`sessions/${one}/attachments {"attachment":"tab-1","keptMs":86400000}`)
    await server.until(() => server.posts.length === 3)
    expect(server.posts[2]).toContain('/unfollow')
    server.connections[0]?.send({ type: 'end', sessionId: one, reason: 'left', retryMs: null })
    server.connections[0]?.send(SessionNews.parse({ type: 'session.changed', session: aMeta() }))
    await expect.poll(() => news).toEqual(['session.changed'])
    expect([states.at(-1), server.connections[0]?.signal.aborted]).toEqual(['live', false])

    await server.shared.pause(false)
    expect(server.connections[0]?.signal.aborted).toBe(true)
    expect(server.posts).toHaveLength(3) // the seat is kept once
    server.shared.resume()
    await server.until(() => server.posts.length === 4)
    expect(server.posts[3]).toContain('"after":2')
    server.connections[1]?.send(record(3))
    await expect.poll(() => seen.at(-1)).toBe('3')
    expect(states.at(-1)).toBe('live')
    left.abort()
    leaveNews()
    await Promise.all(reading)
    expect(server.posts.at(-1)).toBe(`sessions/${one}/attachments/tab-1 `) // and given up with the reader
  })

  it('gives up the attachments that it kept when the page closes, once', async () => {
    const server = createStreamServer()
    const left = new AbortController()
    const reading = (async () => {
      for await (const frame of server.handle(one).subscribe({ client: 'tab-1', signal: left.signal })) word(frame)
    })()
    await server.until(() => server.posts.length === 1)
    server.shared.leave()
    expect(server.posts).toHaveLength(1) // a stream that ends gives up its attachment by itself
    await server.shared.pause(false)
    server.shared.leave()
    server.shared.leave()
    const left1 = () => server.posts.filter((post) => post === `sessions/${one}/attachments/tab-1 `)
    expect(left1()).toHaveLength(1)
    left.abort()
    await reading
    expect(left1()).toHaveLength(1)
  })

  it('ends the reader of a session that the server refuses, and no other', async () => {
    let isRefusing = true
    const server = createStreamServer((path) => (path.endsWith('/follow') && isRefusing ? 'session_not_found' : null))
    const frames: Frame[] = []
    const states: Connection[] = []
    for await (const frame of server.handle(one).subscribe({ onConnection: (state) => states.push(state) }))
      frames.push(frame)
    expect(frames).toEqual([{ type: 'end', sessionId: one, reason: 'failed', retryMs: null }])
    expect(states.at(-1)).toMatchObject({ state: 'ended', fault: { code: 'session_not_found' } })
    isRefusing = false
    const other = server.handle(two).subscribe()[Symbol.asyncIterator]()
    const first = other.next()
    await server.until(() => server.posts.length === 1)
    server.connections.at(-1)?.send(of(two, snapshot(4)))
    expect(word((await first).value)).toBe('snapshot 4')
    await other.return?.()
  })

  it('throws to readers of the news when the server refuses the connection', async () => {
    const server = createStreamServer(() => 'unauthorized')
    const sessions = connectSessions({ url: 'http://127.0.0.1:4820', fetch: server.fetched, sharedStream: true })
    const read = async () => {
      for await (const news of sessions.subscribe()) expect(news).toBeUndefined()
    }
    await expect(read()).rejects.toMatchObject({ code: 'unauthorized' })
  })
})
