import { decodeNews, HoldfastError, type NewsFrame, type NewsOptions, type SessionNews } from '@holdfast/protocol'
import type { Connection } from './connection.ts'
import { followStream } from './follow-stream.ts'
import type { Http } from './http.ts'

/** News have no cursor: whoever keeps a list lists again each time `onConnection` says that the connection is live. */
export type FollowNewsOptions = NewsOptions & {
  readonly onConnection?: ((connection: Connection) => void) | undefined
}

/** The news of all sessions of a server, across any number of connections. Throws when the server refuses for good. */
export async function* followNews(wire: Http, options: FollowNewsOptions = {}): AsyncGenerator<SessionNews> {
  const take = (frame: NewsFrame): SessionNews | null => (frame.type === 'end' ? null : frame)
  const refused = yield* followStream(wire, { ...options, path: () => '/v1/events', decode: decodeNews, take })
  if (refused) throw new HoldfastError(refused)
}
