import { getEventListeners, once } from 'node:events'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { decodeFrames } from '@holdfast/client'
import { encodeFrame, type Frame, invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { sessionId } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'
import { partBytes } from './byte-stream.ts'
import { type EventSource, openEventStream } from './event-stream.ts'
import { createOutbox, partsPerSlice } from './outbox.ts'

type Test = Awaited<ReturnType<typeof openTestServer>>
const path = `/v1/sessions/${sessionId}/events`

async function follow(test: Test, query = '', headers: Record<string, string> = {}) {
  const gone = new AbortController()
  const authorization = `Bearer ${test.tokens.viewer}`
  const response = await test.call(`${path}${query}`, { headers: { authorization, ...headers }, signal: gone.signal })
  invariant(response.body, 'a stream has a body')
  return { response, body: response.body, leave: () => gone.abort() }
}

async function take(frames: AsyncIterator<Frame>, count: number): Promise<readonly (Frame | undefined)[]> {
  const taken: (Frame | undefined)[] = []
  while (taken.length < count) taken.push((await frames.next()).value ?? undefined)
  return taken
}

const seqs = (frames: readonly (Frame | undefined)[]) =>
  frames.map((frame) => (frame?.type === 'record' ? frame.record.seq : frame?.type))

describe('events', () => {
  it('begin with a snapshot and continue live', async () => {
    await using test = await openTestServer()
    test.fake.say('before')
    const { response, body, leave } = await follow(test)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const frames = decodeFrames(body)
    expect(seqs(await take(frames, 1))).toEqual(['snapshot'])
    test.fake.say('after')
    expect(seqs(await take(frames, 1))).toEqual([2])
    leave()
  })

  it('begin after the cursor, preferring the newer one in the header', async () => {
    await using test = await openTestServer()
    for (const text of ['a', 'b', 'c', 'd']) test.fake.say(text)
    const byAddress = await follow(test, '?after=2')
    expect(seqs(await take(decodeFrames(byAddress.body), 2))).toEqual([3, 4])
    const byHeader = await follow(test, '?after=0', { 'last-event-id': '3' })
    expect(seqs(await take(decodeFrames(byHeader.body), 1))).toEqual([4])
    byAddress.leave()
    byHeader.leave()
  })

  it('have an id only on records', async () => {
    await using test = await openTestServer()
    test.fake.say('a')
    const { body, leave } = await follow(test, '?after=0&attachment=tab-1')
    test.fake.publish({ type: 'resync', sessionId, reason: 'test' })
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.includes('event: resync')) break
    }
    expect(text).toMatch(/^: holdfast\n\nid: 1\nevent: record\ndata: \{.*\}\n\nevent: resync\ndata: /)
    expect(test.fake.touched.at(-1)).toEqual({ subscribe: 0, client: 'tab-1' })
    leave()
  })

  it.each(['?after=-1', '?after=x', '?after=1.5', '?attachment=a%20b', '?other=1'])('refuse %s', async (query) => {
    await using test = await openTestServer()
    const response = await test.call(`${path}${query}`)
    expect([response.status, await codeOf(response)]).toEqual([400, 'bad_request'])
  })

  it('send heartbeats while idle', async () => {
    await using test = await openTestServer({ heartbeatMs: 1 })
    const { body, leave } = await follow(test, '?after=0')
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text === ': holdfast\n\n'.repeat(3)) break
    }
    leave()
  })

  it('stop when the client disconnects', async () => {
    await using test = await openTestServer()
    const { body, leave } = await follow(test, '?after=0')
    await body.getReader().read()
    leave()
    await test.fake.left
    expect(test.fake.subscribers.size).toBe(0)
  })

  it('are pulled only as fast as the client reads', async () => {
    await using test = await openTestServer()
    const slow = connect(test.server.port, '127.0.0.1')
    const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.viewer}`
    slow.write(`GET ${path}?after=0 HTTP/1.1\r\n${lines}\r\n\r\n`)
    await new Promise((resolve) => slow.once('data', resolve))
    slow.pause() // from now on only the socket buffers fill
    const total = 400
    for (let count = 0; count < total; count++) test.fake.say('x'.repeat(100_000))
    const quick = await follow(test, `?after=${total - 1}`)
    await take(decodeFrames(quick.body), 1) // the server has run meanwhile
    expect(test.fake.pulls.count).toBeLessThan(total / 2)

    let text = ''
    slow.setEncoding('utf8')
    slow.on('data', (chunk: string) => {
      text = (text + chunk).slice(-300_000)
    })
    slow.resume()
    await new Promise<void>((resolve) => {
      slow.on('data', () => text.includes(`id: ${total}\n`) && resolve())
    })
    expect(test.fake.pulls.count).toBeGreaterThanOrEqual(total)
    slow.destroy()
    quick.leave()
  })

  it('end with a reconnect time when the server closes', async () => {
    const test = await openTestServer()
    const { body } = await follow(test, '?after=0')
    const frames = decodeFrames(body)
    const next = frames.next()
    await test.server.close()
    expect((await next).value).toEqual({ type: 'end', sessionId, reason: 'closing', retryMs: 1000 })
    expect((await frames.next()).done).toBe(true)
  })

  it('end when the session ends them', async () => {
    await using test = await openTestServer()
    const { body } = await follow(test, '?after=0')
    test.fake.publish({ type: 'end', sessionId, reason: 'slow', retryMs: 0 })
    const frames = decodeFrames(body)
    expect(seqs(await take(frames, 2))).toEqual(['end', undefined])
  })

  /** Opens a stream and never reads a byte of it. */
  async function followSilently(test: Test) {
    const socket = connect(test.server.port, '127.0.0.1')
    socket.pause()
    const lines = `Host: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.viewer}`
    socket.write(`GET ${path}?after=0 HTTP/1.1\r\n${lines}\r\n\r\n`)
    await expect.poll(() => test.fake.subscribers.size).toBe(1)
    return socket
  }

  it('are cut if the client takes no byte of what waits for it', async () => {
    await using test = await openTestServer({ stallMs: 400 }) // checks 100 ms apart may be 50 ms late
    const silent = await followSilently(test)
    test.fake.say('x'.repeat(30_000_000)) // more than the system buffers
    await test.fake.left
    expect(test.fake.subscribers.size).toBe(0)
    silent.destroy()
  })

  it('are refused while too many bytes wait for clients', async () => {
    await using test = await openTestServer({ bufferBytesMax: 1_000_000 })
    const silent = await followSilently(test)
    test.fake.say('x'.repeat(30_000_000))
    const statusOf = async (address: string) => (await test.call(address)).status
    await expect.poll(() => statusOf(`/v1/sessions/${sessionId}/branches`)).toBe(503)
    const refused = await test.call(path)
    expect([await codeOf(refused), refused.headers.get('retry-after')]).toEqual(['server_busy', '5'])
    expect(await statusOf('/v1/health')).toBe(200)
    silent.destroy()
    await test.fake.left
    expect(await statusOf(`/v1/sessions/${sessionId}/branches`)).toBe(200)
  })
})

describe('a large frame for many viewers', () => {
  it('is written to few of them in each slice', async () => {
    const viewers = 100
    const outbox = createOutbox({ connections: () => [] })
    const published = Promise.withResolvers<Frame>()
    const large: Frame = { type: 'resync', sessionId, reason: 'x'.repeat(10 * partBytes) }
    const end: Frame = { type: 'end', sessionId, reason: 'closing', retryMs: null }
    let inThisSlice = 0
    let inSliceMax = 0
    const watch = async () => {
      const source: EventSource<Frame> = {
        name: 'test',
        encode: encodeFrame,
        hold: outbox.hold,
        end: () => end,
        async *follow() {
          yield await published.promise
          yield end
        },
      }
      let bytes = 0
      const client = new Writable({
        write(part: Buffer, _, taken) {
          bytes += part.byteLength
          if (part.byteLength === partBytes) inThisSlice += 1
          inSliceMax = Math.max(inSliceMax, inThisSlice)
          setImmediate(() => {
            inThisSlice = 0
            taken()
          })
        },
      })
      openEventStream(source, { outbox, heartbeatMs: 60_000, onProblem: () => {} }, []).writeTo(client)
      await once(client, 'finish')
      return bytes
    }
    const watching = Array.from({ length: viewers }, watch)
    published.resolve(large)
    const received = await Promise.all(watching)
    expect(Math.min(...received)).toBeGreaterThan(10 * partBytes)
    expect(inSliceMax).toBeGreaterThan(0)
    expect(inSliceMax).toBeLessThanOrEqual(2 * partsPerSlice) // a reader may see the parts of two slices in one
  })
})

describe('a stream', () => {
  const outbox = createOutbox({ connections: () => [] })
  const deps = { outbox, heartbeatMs: 60_000, onProblem: () => undefined }
  const endOf = (reason: string): Frame => ({ type: 'end', sessionId, reason: reason as 'closing', retryMs: null })
  const frame = (reason: string): Frame => ({ type: 'resync', sessionId, reason })

  /** Collects what is written. Takes the first bytes only when `take` is called. */
  function createClient() {
    const written: string[] = []
    let take = () => {}
    const client = new Writable({
      highWaterMark: 1,
      write(part: Buffer, _, taken) {
        written.push(part.toString())
        take = taken
      },
    })
    return { client, written, take: () => take() }
  }
  const sourceOf = (follow: EventSource<Frame>['follow']): EventSource<Frame> => ({
    name: 'test',
    encode: encodeFrame,
    hold: outbox.hold,
    end: endOf,
    follow,
  })

  it('reads the next frame only when the client took the last one', async () => {
    const read: string[] = []
    const { client, written, take } = createClient()
    const follow = async function* () {
      for (const name of ['one', 'two', 'three']) {
        read.push(name)
        yield frame(name)
      }
    }
    openEventStream(sourceOf(follow), deps, []).writeTo(client)
    await expect.poll(() => read).toEqual(['one'])
    expect(written).toEqual([': holdfast\n\n'])
    for (const [taken, name] of ['one', 'two', 'three'].entries()) {
      take()
      await expect.poll(() => written.length).toBe(taken + 2)
      expect(read.at(-1)).toBe(name)
    }
    take()
    await once(client, 'finish')
    expect(written.slice(1).map((text) => /"reason":"(\w+)"/.exec(text)?.[1])).toEqual(['one', 'two', 'three'])
  })

  it('writes what is there without asking for it with a promise, and goes on when it is woken', async () => {
    const written: string[] = []
    const client = new Writable({
      write: (part: Buffer, _, taken) => {
        written.push(part.toString())
        taken()
      },
    })
    const there = [frame('two'), frame('three')]
    let [asked, woken] = [0, () => {}]
    const frames = {
      async next(): Promise<IteratorResult<Frame>> {
        asked += 1
        return { done: false, value: frame('one') }
      },
      takeNow(wake: () => void): Frame | 'wait' {
        woken = wake
        return there.shift() ?? 'wait'
      },
    }
    const source = sourceOf(() => ({ [Symbol.asyncIterator]: () => frames }))
    openEventStream(source, deps, []).writeTo(client)
    await expect.poll(() => written.length).toBe(4)
    there.push(frame('four'), endOf('stopped'))
    woken()
    await once(client, 'finish')
    const said = written.slice(1).map((text) => /"reason":"(\w+)"/.exec(text)?.[1])
    expect([said, asked]).toEqual([['one', 'two', 'three', 'four', 'stopped'], 1])
  })

  it('sends its last frame when a signal ends it, waiting or not', async () => {
    for (const waits of [true, false]) {
      const closing = new AbortController()
      const { client, written, take } = createClient()
      const follow = async function* (gone: AbortSignal) {
        if (!waits) yield frame('one')
        await once(gone, 'abort')
      }
      const endings = [{ when: closing.signal, last: endOf('closing') }]
      openEventStream(sourceOf(follow), deps, endings).writeTo(client)
      await expect.poll(() => written.length).toBe(1)
      closing.abort()
      const finished = once(client, 'finish')
      const taking = setInterval(take, 1)
      await finished
      clearInterval(taking)
      expect(written.at(-1)).toContain('"reason":"closing"')
      expect(getEventListeners(closing.signal, 'abort')).toEqual([])
    }
  })

  it('leaves its source and forgets its signals when the client is gone', async () => {
    const closing = new AbortController()
    const { client, written, take } = createClient()
    let began = 0
    const left = Promise.withResolvers<void>()
    const follow = async function* (gone: AbortSignal): AsyncGenerator<Frame> {
      try {
        yield frame('one')
        await once(gone, 'abort')
      } finally {
        left.resolve()
      }
    }
    const source = { ...sourceOf(follow), began: () => void began++ }
    openEventStream(source, deps, [{ when: closing.signal, last: endOf('closing') }]).writeTo(client)
    take()
    await expect.poll(() => written.length).toBe(2)
    client.destroy()
    await left.promise
    expect([began, getEventListeners(closing.signal, 'abort').length]).toEqual([1, 0])
  })
})
