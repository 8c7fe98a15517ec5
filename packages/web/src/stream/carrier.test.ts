import { describe, expect, it } from 'vitest'
import { createCarrier } from './carrier.ts'

const encoder = new TextEncoder()

/** A server of one connection, and the windows that use it. */
function createWorld({ refuses }: { readonly refuses?: { readonly connect?: number; readonly join?: number } } = {}) {
  const asked: string[] = []
  const connections: { readonly signal: AbortSignal; readonly send: (text: string) => void; end(): void }[] = []
  const timers = new Set<() => void>()
  let nowMs = 0
  const fetched = async (input: unknown, init?: RequestInit): Promise<Response> => {
    asked.push(`${init?.method ?? 'GET'} ${String(input)} ${String(init?.body ?? '')}`.trim())
    if (init?.method === 'DELETE') return new Response(null, { status: 204 })
    if (init?.method === 'POST') {
      const { tag } = JSON.parse(String(init.body))
      return refuses?.join
        ? new Response('why', { status: refuses.join })
        : Response.json({ stream: `stream-of-${tag}` })
    }
    if (refuses?.connect) return new Response('why', { status: refuses.connect })
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const signal = init?.signal ?? new AbortController().signal
        signal.addEventListener('abort', () => controller.error(new Error('gone')))
        const send = (text: string) => controller.enqueue(encoder.encode(text))
        connections.push({ signal, send, end: () => controller.close() })
        send(': holdfast\n\nevent: stream\ndata: {"type":"stream","stream":"own"}\n\n')
      },
    })
    return new Response(body)
  }
  const carrier = createCarrier({
    fetch: fetched,
    silenceMs: 100,
    after(_ms, work) {
      timers.add(work)
      return () => void timers.delete(work)
    },
    now: () => nowMs,
  })
  return {
    asked,
    connections,
    /** Lets the time of silence pass. */
    fallSilent() {
      for (const work of [...timers]) work()
    },
    pass(ms: number) {
      nowMs += ms
    },
    openWindow() {
      const got: string[] = []
      const leave = carrier.join(
        {
          onBytes: (bytes) => got.push(new TextDecoder().decode(bytes)),
          onRefused: (status, body) => got.push(`refused ${status} ${body}`),
          onLost: () => got.push('lost'),
        },
        { news: true },
      )
      return { got, leave }
    },
  }
}

describe('the carrier of streams', () => {
  it('carries the streams of all windows on one connection, and gives each window its own events', async () => {
    const world = createWorld()
    const [one, two] = [world.openWindow(), world.openWindow()]
    await expect.poll(() => world.asked.length).toBe(3)
    expect(world.asked).toEqual([
      'GET /v1/stream?news=false',
      'POST /v1/stream/own/join {"tag":"w1","news":true}',
      'POST /v1/stream/own/join {"tag":"w2","news":true}',
    ])
    world.connections[0]?.send('tag: w1\ndata: 1\n\ntag: w2\ndata: 2\n\n: beat\n\n')
    await expect.poll(() => two.got.length).toBe(2)
    expect([one.got, two.got]).toEqual([
      ['data: 1\n\n', ': beat\n\n'],
      ['data: 2\n\n', ': beat\n\n'],
    ])
  })

  it('ends the stream of a window that leaves, and the connection with the last one', async () => {
    const world = createWorld()
    const [one, two] = [world.openWindow(), world.openWindow()]
    await expect.poll(() => world.asked.length).toBe(3)
    one.leave()
    await expect.poll(() => world.asked.at(-1)).toBe('DELETE /v1/stream/stream-of-w1')
    expect(world.connections[0]?.signal.aborted).toBe(false)
    two.leave()
    expect(world.connections[0]?.signal.aborted).toBe(true)
    expect([one.got, two.got]).toEqual([[], []])
  })

  it('tells every window that the connection is lost, also a silent one, and connects again for the next stream', async () => {
    const world = createWorld()
    const one = world.openWindow()
    await expect.poll(() => world.asked.length).toBe(2)
    world.connections[0]?.end()
    await expect.poll(() => one.got).toEqual(['lost'])
    const two = world.openWindow()
    await expect.poll(() => world.asked.length).toBe(4)
    world.fallSilent()
    await expect.poll(() => two.got).toEqual(['lost'])
    expect(world.connections[1]?.signal.aborted).toBe(true)
  })

  it('passes on why the server refuses the connection or a stream', async () => {
    const out = createWorld({ refuses: { connect: 401 } }).openWindow()
    await expect.poll(() => out.got).toEqual(['refused 401 why'])
    const full = createWorld({ refuses: { join: 413 } }).openWindow()
    await expect.poll(() => full.got).toEqual(['refused 413 why'])
    const over = createWorld({ refuses: { join: 404 } }).openWindow()
    await expect.poll(() => over.got).toEqual(['lost'])
  })

  it('tells windows without events that the connection is alive while another window has many', async () => {
    const world = createWorld()
    const [, two] = [world.openWindow(), world.openWindow()]
    await expect.poll(() => world.asked.length).toBe(3)
    world.pass(30)
    world.connections[0]?.send('tag: w1\ndata: 1\n\n')
    await expect.poll(() => two.got).toEqual([': alive\n\n'])
  })
})
