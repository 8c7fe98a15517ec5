import { ClientId, encodeFrame, Frame, type FrameOf, NewsFrame, ok, Seq, type Sessions } from '@holdfast/protocol'
import { z } from 'zod'
import { authorityOf, readRole } from '../http/attachments.ts'
import { answerEventStream, openEventStream, reconnectMs } from '../http/event-stream.ts'
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
  async handle({ session, caller, ended, input }, { sessions, attachments, outbox, closing, heartbeatMs, onProblem }) {
    const asked = readRole(input.query.role)
    if (!asked.ok) return asked
    const handle = await sessions.open(session)
    if (!handle.ok) return handle

    const after = input.headers['last-event-id'] ?? input.query.after
    const client = input.query.attachment
    const { children } = input.query
    const role = caller?.role === 'viewer' ? 'viewer' : asked.value // a viewer token must not block the driver role
    const { id } = handle.value
    const end = (reason: FrameOf<'end'>['reason'], retryMs: number | null): Frame => ({
      ...{ type: 'end', sessionId: id, reason, retryMs },
    })
    const place = await outbox.enter('stream')
    if (!place.ok) return place
    // After the last `await`: another caller may have attached under this name while this one waited.
    const joined = client === undefined ? ok(null) : attachments.stream(id, client, caller)
    if (!joined.ok) {
      place.value()
      return joined
    }
    const stream = joined.value
    const body = openEventStream<Frame>({
      name: id,
      hold: (piece) => outbox.hold(piece, after === undefined ? 1 : privateCopies),
      turn: outbox.turn,
      began: place.value,
      follow(gone) {
        gone.addEventListener('abort', () => stream?.end(), { once: true })
        const frames = handle.value.subscribe({
          after,
          client,
          role,
          children,
          caller: authorityOf(caller),
          signal: gone,
        })
        // Records after a cursor are read for this client alone; the frames that follow are shared.
        return after === undefined ? frames : outbox.takeTurns(frames, gone, ({ type }) => type !== 'record')
      },
      encode: encodeFrame,
      endings: [
        { when: ended, last: end('revoked', null) },
        { when: closing, last: end('closing', reconnectMs) },
        ...(stream ? [{ when: stream.left, last: end('left', null) }] : []),
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
async function* followNews(sessions: Sessions, gone: AbortSignal): AsyncGenerator<NewsFrame> {
  yield* sessions.subscribe({ signal: gone })
  if (!gone.aborted) yield newsEnd('slow')
}

export const eventRoutes: readonly Route[] = [getNews, getEvents]
