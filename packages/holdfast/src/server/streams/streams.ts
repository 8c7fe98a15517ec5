import { randomUUID } from 'node:crypto'
import type { OnProblem } from '@holdfast/core/ports'
import {
  type Fault,
  fault,
  limits,
  ok,
  type Result,
  refuse,
  type SessionId,
  type StreamFrame,
} from '@holdfast/protocol'
import { reconnectMs } from './event-stream.ts'
import { createLock, followOnShared, type Lock } from './follow-on-shared.ts'
import type { Following } from './follow-session.ts'
import { createMerge } from './merge.ts'
import type { Outbox } from './outbox.ts'

/** The open streams of several sessions, by their ids. */
export type Streams = ReturnType<typeof createStreams>

const noStream = fault('not_found', 'This stream is over, or it is not yours. Open a new one.')

/** A frame of a stream that has joined the connection of another one. */
export type TaggedFrame = { readonly type: 'tagged'; readonly tag: string; readonly frame: StreamFrame }

/** A frame of a connection: of its own stream, or of one that joined it. */
export type SentFrame = StreamFrame | TaggedFrame

/** What the streams of one connection share. */
type Connection = {
  /** Counts a frame that waits for the client; the returned function is called when it was sent. */
  readonly hold: (frame: SentFrame) => () => void
  /** Held by the session that reads its past. */
  readonly lockPast: Lock
  /** How many sessions its streams follow. */
  followed: number
}

type OpenStream = {
  /** The caller that opened it. No other may change it. */
  readonly owner: string
  readonly connection: Connection
  readonly followed: Map<SessionId, AbortController>
  /** The streams that joined its connection, by their tags. Aborting one ends it. */
  readonly joined: Map<string, AbortController>
  readonly add: (source: AsyncIterable<SentFrame>) => Promise<void>
  /** Ends a stream that joined another one; null for a stream with a connection of its own. */
  readonly end: (() => void) | null
}

type StreamsDeps = { readonly onProblem: OnProblem; readonly outbox: Pick<Outbox, 'enter'> }

export function createStreams({ onProblem, outbox }: StreamsDeps) {
  const all = new Map<string, OpenStream>()

  /** Yields the frames of one session until it ends, is dropped, or its client leaves. */
  async function* framesOf(
    following: Following,
    { lockPast }: Connection,
    dropped: AbortSignal,
    forget: () => void,
  ): AsyncGenerator<StreamFrame> {
    const { left, end, id } = following
    const over = left ? AbortSignal.any([dropped, left]) : dropped
    let last: StreamFrame | null = null
    try {
      for await (const frame of followOnShared(following, lockPast, outbox, over)) {
        if (frame.type === 'end') last = frame
        else yield frame
      }
      last ??= over.aborted ? end('left', null) : end('failed', reconnectMs)
    } catch (cause) {
      onProblem({ where: `events of ${id}`, cause })
      last = end('failed', reconnectMs)
    } finally {
      forget() // before its last frame, so that the client can follow it again at once
    }
    yield last
  }

  /** Registers a stream. It lasts until the signal of `frames` aborts. */
  const register = (
    { owner, connection, end }: Pick<OpenStream, 'owner' | 'connection' | 'end'>,
    news: AsyncIterable<StreamFrame> | null,
  ) => {
    const id = randomUUID()
    const merge = createMerge<SentFrame>(connection.hold)
    const one: OpenStream = { owner, connection, followed: new Map(), joined: new Map(), add: merge.add, end }
    all.set(id, one)
    return {
      id,
      async *frames(gone: AbortSignal): AsyncGenerator<SentFrame> {
        const forget = () => {
          all.delete(id)
          for (const part of [...one.followed.values(), ...one.joined.values()]) part.abort()
        }
        gone.addEventListener('abort', forget)
        if (gone.aborted) return forget()
        yield { type: 'stream', stream: id }
        if (news) merge.add(news).catch((cause) => onProblem({ where: 'news of a stream', cause }))
        yield* merge.items(gone)
      },
    }
  }

  /** Returns why no session can be added to a stream: its connection is full. */
  function findFull(stream: string): Fault | null {
    const one = all.get(stream)
    if (!one) return noStream
    const max = limits.streamSessionsMax
    if (one.connection.followed < max) return null
    return fault('too_large', `A connection follows at most ${max} sessions. Drop some, or open another stream.`, {
      limit: 'streamSessionsMax',
      max,
    })
  }

  return {
    /** Opens a stream for a caller, on a connection of its own. It lasts until the signal of `frames` aborts. */
    open(owner: string, news: AsyncIterable<StreamFrame> | null, hold: Connection['hold']) {
      return register({ owner, connection: { hold, lockPast: createLock(), followed: 0 }, end: null }, news)
    },

    /** Opens a stream on the connection of another one of the same caller. Returns its id. */
    join(
      stream: string,
      tag: string,
      followNews: (gone: AbortSignal) => AsyncIterable<StreamFrame> | null,
    ): Result<string> {
      const host = all.get(stream)
      if (!host || host.end) return refuse(noStream)
      if (host.joined.has(tag)) return refuse(fault('bad_request', `The connection has a stream with the tag ${tag}.`))
      const max = limits.streamJoinsMax
      if (host.joined.size >= max)
        return refuse(
          fault('too_large', `A connection carries at most ${max} streams.`, { limit: 'streamJoinsMax', max }),
        )
      const gone = new AbortController()
      const { owner, connection } = host
      const { id, frames } = register({ owner, connection, end: () => gone.abort() }, followNews(gone.signal))
      host.joined.set(tag, gone)
      host
        .add(tagFrames(tag, frames(gone.signal)))
        .catch((cause) => onProblem({ where: 'a stream that joined another', cause }))
        .finally(() => {
          gone.abort()
          host.joined.delete(tag)
        })
      return ok(id)
    },

    /** Ends a stream that joined another one. Returns a fault for a stream with a connection of its own. */
    end(stream: string): Fault | null {
      const end = all.get(stream)?.end
      if (!end) return fault('bad_request', 'This stream has its own connection. Close the connection to end it.')
      end()
      return null
    },

    /** Returns why the caller cannot change a stream: there is none of theirs under this id. */
    findForeign: (stream: string, owner: string): Fault | null => (all.get(stream)?.owner === owner ? null : noStream),

    findFull,

    /** Adds a session to a stream. Returns a fault if it is there already, or the connection is full. */
    add(stream: string, following: Following): Fault | null {
      const one = all.get(stream)
      const { id } = following
      if (!one || one.followed.has(id)) {
        following.abandon()
        return fault('bad_request', `This stream already follows ${id}, or it is over.`, { session: id })
      }
      const full = findFull(stream) // others were added while this one was opened
      if (full) {
        following.abandon()
        return full
      }
      const { connection } = one
      const dropped = new AbortController()
      const forget = () => {
        dropped.abort()
        if (one.followed.get(id) === dropped) one.followed.delete(id)
      }
      one.followed.set(id, dropped)
      connection.followed += 1
      one
        .add(framesOf(following, connection, dropped.signal, forget))
        .catch((cause) => onProblem({ where: `events of ${id}`, cause }))
        .finally(() => {
          connection.followed -= 1 // its last frame is sent, or the connection is gone
          forget()
        })
      return null
    },

    /** Drops a session from a stream; its last frame there is `end` with `left`. Returns a fault if it is not there. */
    drop(stream: string, id: SessionId): Fault | null {
      const dropped = all.get(stream)?.followed.get(id)
      if (!dropped) return fault('not_subscribed', `This stream does not follow ${id}.`, { session: id })
      dropped.abort()
      return null
    },
  }
}

/** Marks the frames of a stream with its tag. A frame that ends the stream is the last one. */
async function* tagFrames(tag: string, frames: AsyncIterable<SentFrame>): AsyncGenerator<TaggedFrame> {
  for await (const frame of frames) {
    if (frame.type === 'tagged') continue // a stream that joined another one cannot be joined
    yield { type: 'tagged', tag, frame }
    if (frame.type === 'end' && !('sessionId' in frame)) return
  }
}
