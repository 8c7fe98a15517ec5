import { connect } from 'node:net'
import { connectSessions, decodeNews } from '@holdfast/client'
import { invariant, type NewsFrame, newsSession, SessionId, type SessionNews } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

/** Follows all sessions, from now on. */
async function follow(test: Test, token = test.tokens.viewer) {
  const gone = new AbortController()
  const response = await test.call('/v1/events', {
    headers: { authorization: `Bearer ${token}` },
    signal: gone.signal,
  })
  invariant(response.body, 'a stream has a body')
  return { response, body: response.body, news: decodeNews(response.body), leave: () => gone.abort() }
}

const take = async (news: AsyncIterator<NewsFrame>, count: number) => {
  const taken: (NewsFrame | undefined)[] = []
  while (taken.length < count) taken.push((await news.next()).value ?? undefined)
  return taken
}
const idAt = (number: number) => SessionId.parse(`ses_0${String(number).padStart(25, '0')}`)
const changed = (number: number, title = ''): SessionNews => ({
  type: 'session.changed',
  session: aMeta({ id: idAt(number), title }),
})

describe('GET /v1/events', () => {
  it('streams changes of a session with its metadata', async () => {
    await using test = await openRuntimeServer()
    const { response, news, leave } = await follow(test)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    await test.post(`${test.path}/commands`, '{"type":"enterPlan"}')
    expect(await take(news, 1)).toMatchObject([
      { type: 'session.changed', session: { id: test.runtime.handle.id, mode: 'plan', attachments: 0 } },
    ])
    await test.runtime.registry.unload(test.runtime.handle.id)
    expect(await take(news, 1)).toEqual([
      { type: 'session.stopped', session: test.runtime.handle.id, reason: 'stopped' },
    ])
    leave()
  })

  it('reaches every follower and counts attached clients', async () => {
    await using test = await openRuntimeServer()
    const [one, two] = [await follow(test), await follow(test, test.tokens.admin)]
    await test.post(`${test.path}/attachments`, '{}')
    for (const { news, leave } of [one, two]) {
      expect(await take(news, 1)).toMatchObject([{ type: 'session.changed', session: { attachments: 1 } }])
      leave()
    }
  })

  it('requires a token', async () => {
    await using test = await openRuntimeServer()
    const headers = { authorization: 'Bearer wrong' }
    const response = await test.call('/v1/events', { headers })
    expect([response.status, await codeOf(response)]).toEqual([401, 'unauthorized'])
    expect((await test.call('/v1/events?after=3')).status).toBe(400)
  })

  it('sends heartbeats while idle', async () => {
    await using test = await openRuntimeServer({ heartbeatMs: 1 })
    const { body, leave } = await follow(test)
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text === ': holdfast\n\n'.repeat(3)) break
    }
    leave()
  })

  it('ends with a reconnect time when the server closes', async () => {
    await using test = await openRuntimeServer()
    const { news } = await follow(test)
    const next = news.next()
    await test.server.close()
    expect((await next).value).toEqual({ type: 'end', reason: 'closing', retryMs: 1000 })
    expect((await news.next()).done).toBe(true)
  })

  it('skips intermediate changes for a slow reader without slowing others', async () => {
    await using test = await openRuntimeServer()
    const slow = await openSlow(test)
    const quick = await follow(test)
    const total = 300
    for (let count = 1; count <= total; count++) {
      const news = changed(1, `${count} ${'x'.repeat(100_000)}`) // more than the socket buffers hold
      test.runtime.registry.news.publish(news)
      expect(await take(quick.news, 1)).toEqual([news])
    }
    quick.leave()
    test.runtime.registry.news.publish(changed(2))
    const text = await slow.readUntil(`"id":"${idAt(2)}"`)
    expect(text.match(/event: session\.changed/g)?.length).toBeLessThan(total / 2)
    expect(text).toContain(`"title":"${total} xxx`) // the newest state is never skipped
    slow.close()
  })

  it('ends with a reason when too much is buffered for a reader', async () => {
    await using test = await openRuntimeServer()
    const slow = await openSlow(test)
    for (let number = 1; number <= 30_000; number++) test.runtime.registry.news.publish(changed(number))
    expect(await slow.readUntil('event: end')).toContain('data: {"type":"end","reason":"slow","retryMs":1000}')
    slow.close()
  })
})

describe('a client that follows all sessions', () => {
  it('receives changes across reconnects, and learns when to list again', async () => {
    await using test = await openRuntimeServer()
    let breaks: (() => void) | undefined
    const sessions = connectSessions({
      url: test.server.url,
      token: test.tokens.driver,
      pace: { wait: async () => {} },
      async fetch(input, init) {
        const cut = new AbortController()
        breaks = () => cut.abort()
        return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal })
      },
    })
    const stop = new AbortController()
    const received: string[] = []
    let connected = 0
    const onConnection = ({ state }: { readonly state: string }) => {
      if (state !== 'live') return
      connected += 1
      test.runtime.registry.news.publish(changed(connected))
    }
    for await (const news of sessions.subscribe({ signal: stop.signal, onConnection })) {
      received.push(newsSession(news))
      if (connected === 3) stop.abort()
      else breaks?.()
    }
    expect(received).toEqual([idAt(1), idAt(2), idAt(3)])
  })
})

/** Connects a client that reads nothing until asked to. */
async function openSlow({ server, tokens }: Test) {
  const socket = connect(server.port, '127.0.0.1')
  const lines = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${tokens.viewer}`
  socket.write(`GET /v1/events HTTP/1.1\r\n${lines}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  return {
    readUntil: (end: string) =>
      new Promise<string>((resolve) => {
        let text = ''
        socket.setEncoding('utf8')
        socket.on('data', (chunk: string) => {
          text += chunk
          if (text.includes(end)) resolve(text)
        })
        socket.resume()
      }),
    close: () => socket.destroy(),
  }
}
