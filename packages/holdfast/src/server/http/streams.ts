import { randomUUID } from 'node:crypto'
import type { OnProblem } from '@holdfast/core/ports'
import { type Fault, fault, limits, type SessionId, type StreamFrame } from '@holdfast/protocol'
import { reconnectMs } from './event-stream.ts'
import type { Following } from './follow-session.ts'
import { createMerge } from './merge.ts'

/** The open streams of several sessions, by their ids. */
export type Streams = ReturnType<typeof createStreams>

const noStream = fault('not_found', 'This stream is over, or it is not yours. Open a new one.')

type OpenStream = {
  /** The caller that opened it. No other may change it. */
  readonly owner: string
  readonly followed: Map<SessionId, AbortController>
  readonly add: (source: AsyncIterable<StreamFrame>) => Promise<void>
}

export function createStreams({ onProblem }: { readonly onProblem: OnProblem }) {
  const all = new Map<string, OpenStream>()

  /** Yields the frames of one session until it ends, is dropped, or its client leaves. */
  async function* framesOf(
    following: Following,
    dropped: AbortSignal,
    forget: () => void,
  ): AsyncGenerator<StreamFrame> {
    const { frames, left, end, began, id } = following
    const over = left ? AbortSignal.any([dropped, left]) : dropped
    let last: StreamFrame | null = null
    try {
      for await (const frame of frames(over)) {
        began()
        if (frame.type === 'end') last = frame
        else yield frame
      }
      last ??= over.aborted ? end('left', null) : end('failed', reconnectMs)
    } catch (cause) {
      onProblem({ where: `events of ${id}`, cause })
      last = end('failed', reconnectMs)
    } finally {
      began()
      forget() // before its last frame, so that the client can follow it again at once
    }
    yield last
  }

  return {
    /** Opens a stream for a caller. It lasts until `gone` aborts. */
    open(owner: string, news: AsyncIterable<StreamFrame> | null) {
      const id = randomUUID()
      const merge = createMerge<StreamFrame>()
      const followed: OpenStream['followed'] = new Map()
      all.set(id, { owner, followed, add: merge.add })
      const addNews = () => {
        if (news) merge.add(news).catch((cause) => onProblem({ where: 'news of a stream', cause }))
      }
      return {
        async *frames(gone: AbortSignal): AsyncGenerator<StreamFrame> {
          gone.addEventListener('abort', () => {
            all.delete(id)
            for (const one of followed.values()) one.abort()
          })
          yield { type: 'stream', stream: id }
          addNews()
          yield* merge.items(gone)
        },
      }
    },

    /** Returns why the caller cannot change a stream: there is none of theirs under this id. */
    findForeign: (stream: string, owner: string): Fault | null => (all.get(stream)?.owner === owner ? null : noStream),

    /** Returns why no session can be added to a stream: it is full. */
    findFull(stream: string): Fault | null {
      const one = all.get(stream)
      if (!one) return noStream
      if (one.followed.size < limits.streamSessionsMax) return null
      return fault('too_large', `A stream follows at most ${limits.streamSessionsMax} sessions.`, {
        ...{ limit: 'streamSessionsMax', max: limits.streamSessionsMax },
      })
    },

    /** Adds a session to a stream. Returns a fault if it is there already. */
    add(stream: string, following: Following): Fault | null {
      const one = all.get(stream)
      const { id } = following
      if (!one || one.followed.has(id)) {
        following.abandon()
        return fault('bad_request', `This stream already follows ${id}, or it is over.`, { session: id })
      }
      const dropped = new AbortController()
      const forget = () => {
        dropped.abort()
        if (one.followed.get(id) === dropped) one.followed.delete(id)
      }
      one.followed.set(id, dropped)
      one
        .add(framesOf(following, dropped.signal, forget))
        .catch((cause) => onProblem({ where: `events of ${id}`, cause }))
        .finally(forget)
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
