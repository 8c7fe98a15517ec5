import { ClientId, encodeFrame, Frame, invariant, NewsFrame, ok, Seq, type Sessions } from '@holdfast/protocol'
import { z } from 'zod'
import { frameFor } from '../../auth/public-storage-error.ts'
import { defineRoute, flag, type Route, wholeNumber } from '../../define/route.ts'
import { answerEventStream, type EndReason, type EventSource, reconnectMs } from '../../streams/event-stream.ts'
import { openFollowing } from '../../streams/follow-session.ts'
import { privateCopies } from '../../streams/outbox.ts'

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
    const { query, headers } = input
    const after = headers['last-event-id'] ?? query.after
    const following = await openFollowing({ ...query, session, after }, caller, deps)
    if (!following.ok) return following
    const { id, began, left, frames, end } = following.value
    const source: EventSource<Frame> = {
      name: id,
      follow: frames,
      began,
      left,
      end,
      encode: (frame) => encodeFrame(frameFor(caller, frame)),
      hold: (piece) => deps.outbox.hold(piece, after === undefined ? 1 : privateCopies),
    }
    return ok(answerEventStream(source, { ...deps, ended }))
  },
})

const newsEnd = (reason: EndReason | 'slow', retryMs: number | null): NewsFrame => {
  invariant(reason !== 'left', 'a client leaves a session, not the news')
  return { type: 'end', reason, retryMs }
}

const getNews = defineRoute({
  on: 'GET /v1/events',
  summary: 'Follow all sessions as server-sent events: started, changed, stopped',
  answers: { ...answers, events: NewsFrame },
  async handle({ ended }, deps) {
    const source: EventSource<NewsFrame> = {
      name: 'all sessions',
      hold: deps.outbox.hold,
      follow: (gone) => followNews(deps.sessions, gone),
      encode: encodeFrame,
      end: newsEnd,
    }
    return ok(answerEventStream(source, { ...deps, ended }))
  },
})

/** Ends by itself only when the reader is so slow that its buffer is full. */
export async function* followNews(sessions: Sessions, gone: AbortSignal): AsyncGenerator<NewsFrame> {
  yield* sessions.subscribe({ signal: gone })
  if (!gone.aborted) yield newsEnd('slow', reconnectMs)
}

export const eventRoutes: readonly Route[] = [getEvents]
export const newsRoutes: readonly Route[] = [getNews]
