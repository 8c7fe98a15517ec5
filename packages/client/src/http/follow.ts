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
  type SubscribeOptions,
} from '@holdfast/protocol'
import { decodeFrames, decodeNews } from './decode-stream.ts'
import { type Connection, type FollowOptions, followStream } from './follow-stream.ts'
import type { Http } from './http.ts'

/** A program without types may pass anything. */
const isObject = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && !Array.isArray(options)

/** Yields the frames of a session across reconnects: each record once and in order. */
export async function* follow(wire: Http, id: SessionId, options: FollowOptions = {}): AsyncGenerator<Frame> {
  const { onConnection, ...asked } = { ...options }
  const { signal, ...who } = orThrow(parseSubscribeOptions(isObject(options) ? asked : options))
  let { after } = who
  const take = (frame: Frame): Frame | null => {
    if (frame.type === 'record') {
      if (after !== undefined && frame.record.seq <= after) return null // already yielded
      after = frame.record.seq
    }
    if (frame.type === 'snapshot') after = frame.seq
    return frame
  }
  const path = () => eventsPath(id, { ...who, after })
  const refused = yield* followStream(wire, { path, decode: decodeFrames, take, signal, onConnection })
  const reason = refused?.code === 'unauthorized' ? 'revoked' : 'failed'
  if (refused) yield { type: 'end', sessionId: id, reason, retryMs: null }
}

function eventsPath(id: SessionId, { after, client, role, children }: SubscribeOptions): string {
  const query = new URLSearchParams()
  if (after !== undefined) query.set('after', String(after))
  if (client !== undefined) query.set('attachment', client)
  if (role !== undefined) query.set('role', role)
  if (children) query.set('children', 'true')
  return `/v1/sessions/${id}/events${query.size > 0 ? `?${query}` : ''}`
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
  const refused = yield* followStream(wire, {
    signal,
    onConnection,
    path: () => '/v1/events',
    decode: decodeNews,
    take,
  })
  if (refused) throw new HoldfastError(refused)
}
