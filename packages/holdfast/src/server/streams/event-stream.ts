import type { Writable } from 'node:stream'
import { takeNow } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { partBytes, partsOf } from './byte-stream.ts'
import type { Outbox } from './outbox.ts'

const comment = new TextEncoder().encode(': holdfast\n\n')

export const reconnectMs = 1000

/** Why the server ends a stream: its token was revoked, the server closes, its client leaves, or it failed. */
export type EndReason = 'revoked' | 'closing' | 'left' | 'failed'

export type EventSource<One> = {
  /** For problem reports. */
  readonly name: string
  /** Returns the frames. The signal aborts when the stream is over. */
  readonly follow: (gone: AbortSignal) => AsyncIterable<One>
  readonly encode: (frame: One) => readonly Uint8Array[]
  readonly hold: (piece: Uint8Array) => ReturnType<Outbox['hold']>
  /** Called once, when the first frame came, none came for a while, or the stream is over. */
  readonly began?: () => void
  /** Whether a frame is the last one of the stream; `end` by default. */
  readonly isLast?: (frame: One) => boolean
  /** Aborts when the client leaves. */
  readonly left?: AbortSignal | null
  /** Returns the last frame. The client shall not reconnect if `retryMs` is null. */
  readonly end: (reason: EndReason, retryMs: number | null) => One
}

type StreamDeps = {
  readonly heartbeatMs: number
  /** Aborts when the server starts to close. */
  readonly closing: AbortSignal
  readonly onProblem: OnProblem
  readonly outbox: Pick<Outbox, 'openSlices'>
}

type EventStream = {
  /**
   * Writes the frames to a client until the last one: to the connection itself, if it is given, because an answer collects what
   * is written to it until the next tick. The answer must not frame its body then.
   */
  writeTo(outgoing: Writable, connection?: Writable): void
  /** Ends a stream that is not written. */
  leave(): void
}

/** The streams that are to be written, by the bodies of their answers. */
const streams = new WeakMap<ReadableStream, EventStream>()

/**
 * Answers with a stream of events. The frames do not pass through the body: `eventStreamOf` finds the stream, which
 * writes them to the connection itself. A body that is pulled would cost each viewer of each frame several times as much.
 */
export function answerEventStream<One extends { readonly type: string }>(
  source: EventSource<One>,
  { ended, ...deps }: StreamDeps & { readonly ended: AbortSignal },
): Response {
  const stream = openEventStream(source, deps, [
    { when: ended, last: source.end('revoked', null) },
    { when: deps.closing, last: source.end('closing', reconnectMs) },
    ...(source.left ? [{ when: source.left, last: source.end('left', null) }] : []),
  ])
  const body = new ReadableStream({ cancel: stream.leave })
  streams.set(body, stream)
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    connection: 'close', // an ended stream must leave no idle socket, which would delay the server's close
  }
  return new Response(body, { headers })
}

/** Returns the stream of an answer; null if it is another answer. */
export const eventStreamOf = ({ body }: Response): EventStream | null => (body && streams.get(body)) ?? null

type Ending<One> = { readonly when: AbortSignal; readonly last: One }

/**
 * Opens a stream that reads a frame only when the client took the last one. So frames for a slow client are buffered, and
 * limited, only at their source.
 */
export function openEventStream<One extends { readonly type: string }>(
  { name, follow, encode, hold, began, isLast = ({ type }) => type === 'end', end }: EventSource<One>,
  { heartbeatMs, onProblem, outbox }: Omit<StreamDeps, 'closing'>,
  endings: readonly Ending<One>[],
): EventStream {
  const gone = new AbortController()
  const frames = follow(gone.signal)[Symbol.asyncIterator]()
  const fail = (cause: unknown) => {
    onProblem({ where: `events of ${name}`, cause })
    return end('failed', reconnectMs)
  }
  let first: ReturnType<typeof frames.next> | null = frames.next() // before the first byte, so that a connected client misses nothing
  first.catch(() => undefined) // `run` gets it too
  let hasBegun = false
  const begin = () => {
    if (!hasBegun) began?.()
    hasBegun = true
  }
  /** As the signal says, which takes longer to ask: each frame of each viewer does. */
  let isGone = false
  const leave = () => {
    if (isGone) return
    isGone = true
    begin()
    gone.abort()
    frames.return?.().catch(() => undefined) // its errors no longer matter
  }

  return {
    leave,
    writeTo(outgoing, connection = outgoing) {
      const client = createClientWriter(connection, outbox, hold)
      let state: 'waiting' | 'writing' | 'ending' = 'waiting'
      /** The last frame, once a signal ends the stream. */
      let last = endings.find(({ when }) => when.aborted)?.last ?? null
      const heartbeat = setTimeout(beat, heartbeatMs)
      function beat(): void {
        begin()
        if (state === 'waiting') connection.write(comment)
        heartbeat.refresh()
      }
      const over = () => {
        clearTimeout(heartbeat)
        for (const { when } of endings) when.removeEventListener('abort', endSoon)
        leave()
      }
      const endWith = async (frame: One) => {
        state = 'ending'
        try {
          await client.write(encode(frame))
          over()
          outgoing.end()
        } catch {
          outgoing.destroy()
        }
      }
      const endSoon = () => {
        last ??= endings.find(({ when }) => when.aborted)?.last ?? null
        if (last && state === 'waiting') void endWith(last)
      }
      const stop = (cause: unknown) => void endWith(fail(cause))

      /** Writes the frames that are there, without a promise for each. Goes on when there is one again. */
      const pump = () => {
        try {
          while (isOpen()) {
            state = 'waiting'
            if (last) return void endWith(last)
            const frame = first ? 'next' : takeNow(frames, wake)
            if (frame === 'wait') return
            if (frame === 'next') return void readNext().then(pump, stop)
            const waited = send(frame)
            if (waited) return void waited.then(pump, stop)
          }
        } catch (cause) {
          stop(cause)
        }
      }
      const isOpen = () => state !== 'ending' && !isGone
      const wake = () => client.inSlice(pump)
      const readNext = async () => {
        const next = await (first ?? frames.next())
        first = null
        if (!isOpen()) return
        if (!next.done) return send(next.value)
        state = 'ending'
        outgoing.end()
      }
      /** Returns what to wait for before the next frame. */
      const send = (frame: One): Promise<unknown> | null => {
        state = 'writing'
        begin()
        heartbeat.refresh()
        return isLast(frame) ? endWith(frame) : client.write(encode(frame))
      }
      outgoing.once('close', over)
      outgoing.on('error', over) // it was written to while it closed
      outgoing.write(comment) // tells the client that it is connected
      for (const { when } of endings) when.addEventListener('abort', endSoon)
      pump()
    },
  }
}

/** Writes frames to one client, a part at a time. */
function createClientWriter(
  connection: Writable,
  { openSlices }: Pick<Outbox, 'openSlices'>,
  hold: EventSource<never>['hold'],
) {
  const slices = openSlices()
  let wake = () => {}
  connection.on('drain', () => wake())
  connection.once('close', () => wake())
  const put = (part: Uint8Array): Promise<void> | null => {
    if (connection.destroyed || connection.write(part)) return null
    return new Promise((resolve) => {
      wake = resolve
    })
  }
  const writePart = (part: Uint8Array): Promise<unknown> | null => {
    const waited = slices.wait(part.byteLength) // other connections come between
    return waited ? waited.then(() => put(part)) : put(part)
  }
  const writeParts = async (pieces: readonly Uint8Array[]): Promise<void> => {
    const releases = pieces.map(hold)
    try {
      const parts = partsOf(pieces)
      for (let part = parts.next(); !part.done && !connection.destroyed; part = parts.next())
        await writePart(part.value)
    } finally {
      for (const release of releases) release()
    }
  }
  return {
    inSlice: slices.run,
    /** Returns what to wait for before the next frame: the client has not taken enough of this one. */
    write(pieces: readonly Uint8Array[]): Promise<unknown> | null {
      const [only] = pieces
      return only && pieces.length === 1 && only.byteLength <= partBytes ? writePart(only) : writeParts(pieces)
    },
  }
}
