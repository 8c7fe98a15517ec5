import {
  type Frame,
  HoldfastError,
  type NewsFrame,
  NewsOptions,
  orThrow,
  parseOptions,
  parseSubscribeOptions,
  type SessionId,
  type SessionNews,
} from '@holdfast/protocol'
import { decodeNews } from './decode-stream.ts'
import { createCursor, followAlone, followShared } from './follow-session.ts'
import { type Connection, type FollowOptions, followStream } from './follow-stream.ts'
import type { Http } from './http.ts'
import type { SharedStream } from './shared-stream.ts'

/** A program without types may pass anything. */
const isObject = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && !Array.isArray(options)

/** Yields the frames of a session across reconnects: each record once and in order. */
export async function* follow(wire: Http, id: SessionId, options: FollowOptions = {}): AsyncGenerator<Frame> {
  const { onConnection, ...asked } = { ...options }
  const { signal, ...who } = orThrow(parseSubscribeOptions(isObject(options) ? asked : options))
  const cursor = createCursor(who)
  const refused = wire.shared
    ? yield* followShared(wire, wire.shared, { id, who, cursor, signal, onConnection })
    : yield* followAlone(wire, { id, who, cursor, signal, onConnection })
  const reason = refused?.code === 'unauthorized' ? 'revoked' : 'failed'
  if (refused) yield { type: 'end', sessionId: id, reason, retryMs: null }
}

/** News has no cursor: load the list again each time the connection is live. */
export type FollowNewsOptions = NewsOptions & {
  /** Called when the stream connects, is lost or is connected again. */
  readonly onConnection?: ((connection: Connection) => void) | undefined
}

/** Yields the news of all sessions across reconnects. Throws when the server refuses. */
export async function* followNews(wire: Http, options: FollowNewsOptions = {}): AsyncGenerator<SessionNews> {
  const take = (frame: NewsFrame): SessionNews | null => (frame.type === 'end' ? null : frame)
  const { onConnection, ...asked } = { ...options }
  const { signal } = orThrow(parseOptions(NewsOptions, isObject(options) ? asked : options, 'subscribe'))
  if (wire.shared) return yield* newsOf(wire.shared, signal, onConnection)
  const refused = yield* followStream(wire, {
    signal,
    onConnection,
    path: () => '/v1/events',
    decode: decodeNews,
    take,
  })
  if (refused) throw new HoldfastError(refused)
}

async function* newsOf(
  shared: SharedStream,
  signal: AbortSignal | undefined,
  onConnection: FollowNewsOptions['onConnection'] = () => undefined,
): AsyncGenerator<SessionNews> {
  const news = shared.news(signal)
  const leave = shared.join({ reads: 'news', onConnection })
  try {
    yield* news
  } finally {
    leave()
  }
}
