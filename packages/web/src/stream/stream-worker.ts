import { limits } from '@holdfast/protocol/limits'
import { createCarrier } from './carrier.ts'
import { createHolderChoice } from './choose-holder.ts'

/** What a window sends: a request for a stream, with the port for its events, or the lock that it holds until it is gone. */
export type WindowMessage =
  | { readonly type: 'open'; readonly news: boolean }
  | { readonly type: 'held'; readonly lock: string }
  /** The window is there, and could keep the news for all; or it is closed. Sent where the browser has no locks. */
  | { readonly type: 'here' | 'gone' }

/** What the worker sends to a window that is there: it keeps the news for all from now on, or it shall say `here` again. */
export type WorkerMessage = { readonly type: 'holder' | 'ping' }

/** What comes through the port of a stream. The window sends `close` to end it. */
export type StreamMessage =
  | { readonly type: 'taken' | 'lost' }
  | { readonly type: 'refused'; readonly status: number; readonly body: string }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }

// In a test there is no window that asks.
if (typeof self !== 'undefined' && typeof document === 'undefined' && 'onconnect' in self) {
  const after = (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  }
  const choice = createHolderChoice({ after })
  const carrier = createCarrier({
    fetch: (input, init) => fetch(input, init), // a browser's fetch needs its `this`
    silenceMs: 3 * limits.heartbeatMs,
    after,
    now: () => performance.now(),
  })
  self.addEventListener('connect', (event) => {
    const [window] = event instanceof MessageEvent ? event.ports : []
    if (!window) return
    const streams = new Set<() => void>()
    const tell = (type: WorkerMessage['type']) => window.postMessage({ type } satisfies WorkerMessage)
    const candidate = { choose: () => tell('holder'), ping: () => tell('ping') }
    window.onmessage = ({ data, ports: [port] }: MessageEvent<WindowMessage>) => {
      if (data.type === 'open' && port) carry(data.news, port, streams)
      if (data.type === 'here') choice.answer(candidate)
      if (data.type === 'gone') choice.leave(candidate)
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
