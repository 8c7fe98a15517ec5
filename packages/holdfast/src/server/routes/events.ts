import { ClientId, encodeFrame, Frame, NewsFrame, ok, Seq, type Sessions } from '@holdfast/protocol'
import { z } from 'zod'
import { answerEventStream, openEventStream, reconnectMs } from '../http/event-stream.ts'
import { openFollowing } from '../http/follow-session.ts'
import { privateCopies } from '../http/outbox.ts'
import { defineRoute, flag, type Route, wholeNumber } from '../http/route.ts'

const answers = { status: 200, mediaType: 'text/event-stream', schema: z.string() } as const
const cursor = wholeNumber.pipe(Seq).optional()

const getEvents = defineRoute({
  on: 'GET /v1/sessions/:id/events',
  summary: 'Follow a session as server-sent events, from a cursor or from a snapshot',
  query: z.strictObject({
    after: cursor,
    attachment: ClientId.optional(),
    role: z.string().optional(),
    children: flag,
  }),
  // A browser that reconnects sends its newer cursor in this header and the old one in the URL.
  headers: z.object({ 'last-event-id': cursor }),
  answers: { ...answers, events: Frame },
  refuses: ['invalid_role', 'foreign_attachment'],
  async handle({ session, caller, ended, input }, deps) {
    const { outbox, closing, heartbeatMs, onProblem } = deps
    const { query, headers } = input
    const after = headers['last-event-id'] ?? query.after
    const following = await openFollowing({ ...query, session, after }, caller, deps)
    if (!following.ok) return following
    const { id, began, left, frames, end } = following.value
    const body = openEventStream<Frame>({
      name: id,
      hold: (piece) => outbox.hold(piece, after === undefined ? 1 : privateCopies),
      turn: outbox.turn,
      began,
      follow: frames,
      encode: encodeFrame,
      endings: [
        { when: ended, last: end('revoked', null) },
        { when: closing, last: end('closing', reconnectMs) },
        ...(left ? [{ when: left, last: end('left', null) }] : []),
      ],
      failed: end('failed', reconnectMs),
      heartbeatMs,
      onProblem,
    })
    return ok(answerEventStream(body))
  },
})

const newsEnd = (reason: 'slow' | 'closing' | 'failed' | 'revoked'): NewsFrame => ({
  ...{ type: 'end', reason, retryMs: reason === 'revoked' ? null : reconnectMs },
})

const getNews = defineRoute({
  on: 'GET /v1/events',
  summary: 'Follow all sessions as server-sent events: started, changed, stopped',
  answers: { ...answers, events: NewsFrame },
  async handle({ ended }, { sessions, outbox, closing, heartbeatMs, onProblem }) {
    const body = openEventStream<NewsFrame>({
      name: 'all sessions',
      hold: outbox.hold,
      turn: outbox.turn,
      follow: (gone) => followNews(sessions, gone),
      encode: encodeFrame,
      endings: [
        { when: ended, last: newsEnd('revoked') },
        { when: closing, last: newsEnd('closing') },
      ],
      failed: newsEnd('failed'),
      heartbeatMs,
      onProblem,
    })
    return ok(answerEventStream(body))
  },
})

/** Ends by itself only when the reader is so slow that its buffer is full. */
export async function* followNews(sessions: Sessions, gone: AbortSignal): AsyncGenerator<NewsFrame> {
  yield* sessions.subscribe({ signal: gone })
  if (!gone.aborted) yield newsEnd('slow')
}

export const eventRoutes: readonly Route[] = [getEvents]
export const newsRoutes: readonly Route[] = [getNews]
