import type { StreamMessage, WindowMessage } from './stream-worker.ts'

/** The part of a shared worker that is used. */
export type StreamWorker = Pick<SharedWorker, 'onerror'> & { readonly port: Pick<MessagePort, 'postMessage'> }

type StreamFetchDeps = {
  /** Sends all other requests, and the streams too if there is no worker. */
  readonly fetch: typeof fetch
  /** Starts the worker that all windows share; null if the browser has none. */
  readonly start: () => StreamWorker | null
}

/** A worker that does not answer within this time does not run. */
const answerMs = 5000

/**
 * Returns a `fetch` that opens streams on the one connection of all windows, which a shared worker has: a browser allows six
 * connections to a server, and each window has a stream. Without such a worker every stream has its own connection.
 */
export function createStreamFetch({ fetch, start }: StreamFetchDeps): typeof globalThis.fetch {
  const broken = new AbortController()
  let worker = start()
  if (worker) worker.onerror = () => broken.abort()
  const open = async (url: URL, signal: AbortSignal | null): Promise<Response | null> => {
    if (!worker || broken.signal.aborted) return null
    const { port1, port2 } = new MessageChannel()
    const message: WindowMessage = { type: 'open', news: url.searchParams.get('news') !== 'false' }
    worker.port.postMessage(message, [port2])
    return readStream(port1, signal, broken.signal)
  }
  return async (input, init) => {
    const url = new URL(String(input))
    if (url.pathname === '/v1/stream') {
      const answer = await open(url, init?.signal ?? null)
      if (answer) return answer
      worker = null
    }
    return fetch(input, init)
  }
}

/** Returns the answer that comes through a port; null if nothing answers there. */
function readStream(port: MessagePort, signal: AbortSignal | null, broken: AbortSignal): Promise<Response | null> {
  return new Promise((resolve, reject) => {
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null
    const close = () => {
      clearTimeout(timer)
      broken.removeEventListener('abort', giveUp)
      signal?.removeEventListener('abort', abort)
      globalThis.removeEventListener?.('pagehide', lose)
      port.postMessage('close')
      port.close()
    }
    const giveUp = () => {
      close()
      resolve(null)
    }
    const timer = setTimeout(giveUp, answerMs)
    broken.addEventListener('abort', giveUp, { once: true })
    const fail = (error: unknown) => {
      close()
      reject(error) // nothing happens if it has an answer
      controller?.error(error)
      controller = null
    }
    const abort = () => fail(signal?.reason)
    const lose = () => fail(new TypeError('The connection is lost.'))
    const body = () =>
      new ReadableStream<Uint8Array>({
        start(made) {
          controller = made
        },
        cancel: close,
      })
    port.onmessage = ({ data }: MessageEvent<StreamMessage>) => {
      clearTimeout(timer)
      broken.removeEventListener('abort', giveUp) // the worker runs
      if (data.type === 'lost') lose()
      if (data.type === 'refused') {
        close()
        resolve(new Response(data.body, { status: data.status }))
      }
      if (data.type !== 'bytes') return
      if (!controller) resolve(new Response(body()))
      controller?.enqueue(data.bytes)
    }
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort)
    globalThis.addEventListener?.('pagehide', lose) // a page that is kept for the back button opens it again
  })
}
