import { invariant, limits, orThrow, StreamFrame } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>
type Sent = { readonly tag: string | null; readonly frame: StreamFrame }

/** Decodes the events of a connection, with their tags. */
async function* decode(body: ReadableStream<Uint8Array>): AsyncGenerator<Sent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined) continue // a heartbeat
      yield { tag: /^tag: (\w+)\n/.exec(event)?.[1] ?? null, frame: StreamFrame.parse(JSON.parse(data)) }
    }
  }
}

/** Opens a connection whose own stream carries nothing. */
async function openConnection(test: Test) {
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${test.tokens.driver}`, 'content-type': 'application/json' }
  const response = await test.call('/v1/stream?news=false', { headers, signal: gone.signal })
  invariant(response.body, 'a stream has a body')
  const sent = decode(response.body)
  const until = async (fits: (sent: Sent) => boolean): Promise<Sent> => {
    for (;;) {
      const { value, done } = await sent.next()
      if (done) throw new Error('the connection ended')
      if (fits(value)) return value
    }
  }
  const { frame } = await until(() => true)
  invariant(frame.type === 'stream', 'a stream begins with its id')
  const post = (path: string, body: object) =>
    test.call(`/v1/stream/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    id: frame.stream,
    until,
    post,
    leave: () => gone.abort(),
    join: (body: object) => post(`${frame.stream}/join`, body),
    end: (stream: string) => test.call(`/v1/stream/${stream}`, { method: 'DELETE', headers }),
    async joined(tag: string, news = false): Promise<string> {
      const answer: unknown = await (await post(`${frame.stream}/join`, { tag, news })).json()
      const first = await until((one) => one.tag === tag)
      expect(first.frame).toEqual({ type: 'stream', ...Object(answer) })
      invariant(first.frame.type === 'stream', 'a joined stream begins with its id')
      return first.frame.stream
    },
  }
}

const isOf = (tag: string, type: string) => (sent: Sent) => sent.tag === tag && sent.frame.type === type

describe('a stream that joins the connection of another one', () => {
  it('follows its own sessions, with its own attachments, also one that another stream follows', async () => {
    const test = await openRuntimeServer()
    const one = test.runtime.handle.id
    const { joined, post, until, leave } = await openConnection(test)
    const [first, second] = [await joined('w1'), await joined('w2', true)]
    for (const [stream, tag] of [
      [first, 'w1'],
      [second, 'w2'],
    ] as const) {
      expect((await post(`${stream}/follow`, { session: one, attachment: tag })).status).toBe(200)
      await until(isOf(tag, 'snapshot'))
    }
    const state = await test.call(`/v1/sessions/${one}`)
    expect(await state.json()).toMatchObject({ here: { clients: [{ client: 'w1' }, { client: 'w2' }] } })
    const headers = { authorization: `Bearer ${test.tokens.driver}`, 'holdfast-attachment': 'w1' }
    const command = { type: 'enterPlan' }
    await test.call(`/v1/sessions/${one}/commands`, {
      method: 'POST',
      body: JSON.stringify(command),
      headers: { ...headers, 'content-type': 'application/json' },
    })
    const seen = new Set<string>()
    await until(({ tag, frame }) => {
      if (frame.type === 'record' || frame.type === 'session.changed') seen.add(`${tag} ${frame.type}`)
      return seen.size === 3
    })
    expect([...seen].sort()).toEqual(['w1 record', 'w2 record', 'w2 session.changed'])
    leave()
    await test[Symbol.asyncDispose]()
  })

  it('gives up its attachments when it ends, and leaves the other streams alone', async () => {
    const test = await openRuntimeServer()
    const one = test.runtime.handle.id
    const { joined, post, until, end, leave } = await openConnection(test)
    const [first, second] = [await joined('w1'), await joined('w2')]
    for (const [stream, attachment] of [
      [first, 'w1'],
      [second, 'w2'],
    ])
      await post(`${stream}/follow`, { session: one, attachment })
    await until(({ tag, frame }) => tag === 'w1' && frame.type === 'presence' && frame.clients.length === 2)
    expect((await end(second)).status).toBe(204)
    await until(({ tag, frame }) => tag === 'w1' && frame.type === 'presence' && frame.clients.length === 1)
    expect((await end(second)).status).toBe(404)
    expect(await joined('w2')).not.toBe(second) // its tag is free again
    leave()
    const clients = async () => {
      const handle = orThrow(await test.sessions.open(one))
      return orThrow(await handle.state(['meta'])).meta.attachments
    }
    await expect.poll(clients).toBe(0)
    await test[Symbol.asyncDispose]()
  })

  it('is refused for a tag in use, too many streams, or a stream that joined itself', async () => {
    const test = await openRuntimeServer()
    const { id, join, joined, post, end, leave } = await openConnection(test)
    const first = await joined('w1')
    expect(await codeOf(await join({ tag: 'w1' }))).toBe('bad_request')
    expect(await codeOf(await join({ tag: 'two\nlines' }))).toBe('bad_request')
    expect(await codeOf(await post(`${first}/join`, { tag: 'w2' }))).toBe('not_found')
    expect(await codeOf(await end(id))).toBe('bad_request')
    const foreign = await test.call(`/v1/stream/${id}/join`, {
      method: 'POST',
      body: '{"tag":"w2"}',
      headers: { authorization: `Bearer ${test.tokens.admin}`, 'content-type': 'application/json' },
    })
    expect(await codeOf(foreign)).toBe('not_found')
    for (let number = 2; number <= limits.streamJoinsMax; number++)
      expect((await join({ tag: `w${number}`, news: false })).status).toBe(200)
    expect(await codeOf(await join({ tag: 'more' }))).toBe('too_large')
    leave()
    await test[Symbol.asyncDispose]()
  })
})
