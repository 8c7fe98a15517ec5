import type { UnderlyingSource } from 'node:stream/web'
import type { ServerDeps } from './route.ts'

const comment = new TextEncoder().encode(': holdfast\n\n')

export const reconnectMs = 1000

type EventStreamDeps<One> = Pick<ServerDeps, 'heartbeatMs' | 'onProblem'> & {
  /** For problem reports. */
  readonly name: string
  /** Returns the frames. The signal aborts when the stream is over. */
  readonly follow: (gone: AbortSignal) => AsyncIterable<One>
  readonly encode: (frame: One) => Uint8Array
  /** Signals that end the stream, each with the last frame then. */
  readonly endings: readonly { readonly when: AbortSignal; readonly last: One }[]
  /** The last frame if `follow` throws. */
  readonly failed: One
}

/**
 * Opens a body that is pulled: the next frame is read only when the socket took the last one. So frames for a slow client
 * are buffered, and limited, only at their source.
 */
export function openEventStream<One extends { readonly type: string }>(deps: EventStreamDeps<One>) {
  const { name, follow, encode, endings, failed, heartbeatMs, onProblem } = deps
  const gone = new AbortController()
  const frames = follow(gone.signal)[Symbol.asyncIterator]()

  let isReading = false
  let arrived: One | 'done' | null = null
  let wake = () => {}
  const readNext = () => {
    isReading = true
    const report = (cause: unknown) => {
      onProblem({ where: `events of ${name}`, cause })
      return { value: failed, done: false }
    }
    frames
      .next()
      .catch(report)
      .then((next) => {
        arrived = next.done ? 'done' : next.value
        wake()
      })
  }
  const leave = () => {
    gone.abort()
    frames.return?.().catch(() => undefined) // its errors no longer matter
  }
  /** Resolves when a frame arrived, when the stream shall end, or when a heartbeat is due. */
  const waitForFrame = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const settle = () => {
      clearTimeout(timer)
      for (const { when } of endings) when.removeEventListener('abort', settle)
      wake = () => {}
      resolve()
    }
    const timer = setTimeout(settle, heartbeatMs)
    wake = settle
    for (const { when } of endings) {
      if (when.aborted) settle()
      else when.addEventListener('abort', settle)
    }
    return promise
  }

  const source: UnderlyingSource<Uint8Array> = {
    start(controller) {
      readNext() // before the first byte, so that a connected client misses nothing
      controller.enqueue(comment) // tells the client that it is connected
    },

    async pull(controller) {
      if (!isReading) readNext()
      if (arrived === null) await waitForFrame()
      if (gone.signal.aborted) return
      let frame: One | 'done' | null = arrived
      for (const { when, last } of endings) if (when.aborted) frame ??= last
      if (frame === null) return controller.enqueue(comment)
      if (frame !== 'done') controller.enqueue(encode(frame))
      if (frame === 'done' || frame.type === 'end') {
        leave()
        return controller.close()
      }
      arrived = null
      isReading = false
    },

    cancel() {
      leave()
      wake()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

export function answerEventStream(body: ReadableStream<Uint8Array>): Response {
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'transfer-encoding': 'chunked', // makes the adapter send the first bytes at once
    'x-accel-buffering': 'no',
    connection: 'close', // an ended stream must leave no idle socket, which would delay the server's close
  }
  return new Response(body, { headers })
}
