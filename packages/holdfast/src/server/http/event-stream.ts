import type { UnderlyingSource } from 'node:stream/web'
import { partBytes, partsOf } from './byte-stream.ts'
import type { Outbox } from './outbox.ts'
import type { ServerDeps } from './server-deps.ts'

const comment = new TextEncoder().encode(': holdfast\n\n')

export const reconnectMs = 1000

type EventStreamDeps<One> = Pick<ServerDeps, 'heartbeatMs' | 'onProblem'> & {
  /** For problem reports. */
  readonly name: string
  /** Returns the frames. The signal aborts when the stream is over. */
  readonly follow: (gone: AbortSignal) => AsyncIterable<One>
  readonly encode: (frame: One) => readonly Uint8Array[]
  readonly hold: (piece: Uint8Array) => ReturnType<Outbox['hold']>
  /** Waits until a part may be written. */
  readonly turn: Outbox['turn']
  /** Called once, when the first frame came, none came for a while, or the stream is over. */
  readonly began?: () => void
  /** Whether a frame is the last one of the stream; `end` by default. */
  readonly isLast?: (frame: One) => boolean
  /** Signals that end the stream, each with the last frame then. */
  readonly endings: readonly { readonly when: AbortSignal; readonly last: One }[]
  /** The last frame if `follow` throws. */
  readonly failed: One
}

/**
 * Opens a body that is pulled: the next part is sent only when the socket took the last one. So frames for a slow client
 * are buffered, and limited, only at their source.
 */
export function openEventStream<One extends { readonly type: string }>(deps: EventStreamDeps<One>) {
  const { encode, endings, heartbeatMs, hold, turn, isLast = ({ type }) => type === 'end' } = deps
  const frames = createFrameReader(deps)
  let began = deps.began
  /** A large frame whose parts are being sent. Its own reference lets newcomers share its encoding. */
  let sending: { readonly frame: One; readonly parts: Iterator<Uint8Array>; readonly sent: () => void } | null = null
  const leave = () => {
    began?.()
    began = undefined
    sending?.sent()
    sending = null
    frames.leave()
  }

  /** Sends a small frame, or the first part of a large one. */
  const send = (frame: One, controller: ReadableStreamDefaultController<Uint8Array>) => {
    const pieces = encode(frame)
    const [only] = pieces
    if (only && pieces.length === 1 && only.byteLength <= partBytes) {
      controller.enqueue(only)
      if (!isLast(frame)) return
      leave()
      return controller.close()
    }
    const parts = partsOf(pieces)
    const first = parts.next()
    if (!first.done) controller.enqueue(first.value)
    const releases = pieces.map(hold)
    sending = {
      ...{ frame, parts },
      sent: () => {
        for (const release of releases) release()
      },
    }
  }

  const source: UnderlyingSource<Uint8Array> = {
    start(controller) {
      frames.start() // before the first byte, so that a connected client misses nothing
      controller.enqueue(comment) // tells the client that it is connected
    },

    async pull(controller) {
      const part = sending?.parts.next()
      if (part && !part.done) {
        await turn() // other connections come between
        return frames.gone.aborted ? undefined : controller.enqueue(part.value)
      }
      sending?.sent()
      sending = null
      let frame: One | 'done' | null = await frames.next(heartbeatMs)
      began?.()
      began = undefined
      if (!frames.gone.aborted) await turn()
      if (frames.gone.aborted) return
      for (const { when, last } of endings) if (when.aborted) frame ??= last
      if (frame === null) return controller.enqueue(comment)
      if (frame !== 'done') return send(frame, controller)
      leave()
      controller.close()
    },

    cancel: leave,
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** Reads one frame ahead. */
function createFrameReader<One>({ name, follow, endings, failed, onProblem }: EventStreamDeps<One>) {
  const gone = new AbortController()
  const frames = follow(gone.signal)[Symbol.asyncIterator]()
  let isReading = false
  let arrived: One | 'done' | null = null
  let wake = () => {}
  const start = () => {
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

  return {
    gone: gone.signal,
    start,
    /** Returns the next frame; null if none came in time, or if the stream shall end first. */
    async next(forMs: number): Promise<One | 'done' | null> {
      if (!isReading) start()
      if (arrived === null) {
        const waited = Promise.withResolvers<void>()
        const timer = setTimeout(waited.resolve, forMs)
        wake = waited.resolve
        for (const { when } of endings) {
          if (when.aborted) waited.resolve()
          else when.addEventListener('abort', wake)
        }
        await waited.promise
        clearTimeout(timer)
        for (const { when } of endings) when.removeEventListener('abort', wake)
        wake = () => {}
      }
      const frame = arrived
      if (frame !== null) {
        arrived = null
        isReading = false
      }
      return frame
    },
    leave() {
      gone.abort()
      frames.return?.().catch(() => undefined) // its errors no longer matter
      wake()
    },
  }
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
