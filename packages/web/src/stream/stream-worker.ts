import { limits } from '@holdfast/protocol/limits'
import { createCarrier } from './carrier.ts'

/** What a window sends: a request for a stream, with the port for its events, or the lock that it holds until it is gone. */
export type WindowMessage =
  | { readonly type: 'open'; readonly news: boolean }
  | { readonly type: 'held'; readonly lock: string }

/** What comes through the port of a stream. The window sends `close` to end it. */
export type StreamMessage =
  | { readonly type: 'taken' | 'lost' }
  | { readonly type: 'refused'; readonly status: number; readonly body: string }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }

// In a test there is no window that asks.
if (typeof self !== 'undefined' && typeof document === 'undefined' && 'onconnect' in self) {
  const carrier = createCarrier({
    fetch: (input, init) => fetch(input, init), // a browser's fetch needs its `this`
    silenceMs: 3 * limits.heartbeatMs,
    after(ms, work) {
      const timer = setTimeout(work, ms)
      return () => clearTimeout(timer)
    },
    now: () => performance.now(),
  })
  self.addEventListener('connect', (event) => {
    const [window] = event instanceof MessageEvent ? event.ports : []
    if (!window) return
    const streams = new Set<() => void>()
    window.onmessage = ({ data, ports: [port] }: MessageEvent<WindowMessage>) => {
      if (data.type === 'open' && port) carry(data.news, port, streams)
      // The browser gives this worker the lock when the window is gone, also after a crash.
      if (data.type === 'held') void navigator.locks.request(data.lock, () => endAll(streams))
    }
  })

  const carry = (news: boolean, port: MessagePort, streams: Set<() => void>) => {
    const send = (message: StreamMessage, transfer: Transferable[] = []) => port.postMessage(message, transfer)
    send({ type: 'taken' })
    const leave = carrier.join(
      {
        onBytes: (bytes) => send({ type: 'bytes', bytes }, [bytes.buffer]),
        onRefused: (status, body) => send({ type: 'refused', status, body }),
        onLost: () => send({ type: 'lost' }),
      },
      { news },
    )
    streams.add(leave)
    port.onmessage = () => {
      streams.delete(leave)
      leave()
      port.close()
    }
  }

  const endAll = (streams: ReadonlySet<() => void>) => {
    for (const end of streams) end()
  }
}
