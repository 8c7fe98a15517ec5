import { describe, expect, it } from 'vitest'
import { createStreamFetch, type StreamWorker } from './stream-fetch.ts'
import type { StreamMessage } from './stream-worker.ts'

const url = 'http://127.0.0.1:4820/v1/stream'

/** A worker that does what `answer` says. */
const workerThat = (answer: (port: MessagePort, send: (message: StreamMessage) => void) => void): StreamWorker => ({
  onerror: null,
  port: {
    postMessage(_message: unknown, ports?: unknown) {
      const [port] = Array.isArray(ports) ? ports : []
      answer(port, (message) => port.postMessage(message))
    },
  },
})

const open = (worker: StreamWorker | null, signal?: AbortSignal) => {
  const send = createStreamFetch({ start: () => worker, fetch: async () => new Response('alone') })
  return send(url, signal ? { signal } : {})
}
const bytes = (text: string): StreamMessage => ({ type: 'bytes', bytes: new TextEncoder().encode(text) })

describe('the fetch of streams', () => {
  it('reads a stream from the worker until the connection is lost', async () => {
    const response = await open(
      workerThat((_port, send) => {
        for (const message of [{ type: 'taken' }, bytes('one '), bytes('two'), { type: 'lost' }] as const) send(message)
      }),
    )
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('The connection is lost.')
  })

  it('answers with the refusal of the server', async () => {
    const response = await open(workerThat((_port, send) => send({ type: 'refused', status: 401, body: 'why' })))
    expect([response.status, await response.text()]).toEqual([401, 'why'])
  })

  it('tells the worker when the reader leaves', async () => {
    const left = Promise.withResolvers<unknown>()
    const gone = new AbortController()
    const response = await open(
      workerThat((port, send) => {
        port.onmessage = ({ data }) => left.resolve(data)
        send(bytes('one'))
      }),
      gone.signal,
    )
    gone.abort()
    expect(await left.promise).toBe('close')
    await expect(response.text()).rejects.toThrow('aborted')
  })

  it('opens a connection of its own without a worker, and after the worker could not be loaded', async () => {
    expect(await (await open(null)).text()).toBe('alone')
    const broken = workerThat(() => undefined)
    const send = createStreamFetch({ start: () => broken, fetch: async () => new Response('alone') })
    const asked = send(url)
    broken.onerror?.call(Object(broken), Object(new Event('error')))
    expect(await (await asked).text()).toBe('alone')
  })
})
