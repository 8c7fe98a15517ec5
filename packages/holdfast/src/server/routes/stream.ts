import {
  ClientId,
  encodeFrame,
  invariant,
  ok,
  parseSessionName,
  refuse,
  Seq,
  SessionId,
  StreamFrame,
} from '@holdfast/protocol'
import { z } from 'zod'
import { frameFor } from '../auth/public-storage-error.ts'
import { idOf } from '../http/attachments.ts'
import { answerEventStream, type EndReason, type EventSource } from '../http/event-stream.ts'
import { openFollowing } from '../http/follow-session.ts'
import { privateCopies } from '../http/outbox.ts'
import { answersJson, defineRoute, flag, type Route } from '../http/route.ts'
import { sessionFaults } from '../http/route-faults.ts'
import { followNews } from './events.ts'

const end = (reason: EndReason, retryMs: number | null): StreamFrame => {
  invariant(reason !== 'left', 'a client leaves a session, not the stream')
  return { type: 'end', reason, retryMs }
}
const encoder = new TextEncoder()

const getStream = defineRoute({
  on: 'GET /v1/stream',
  summary: 'Follow several sessions, and the news of all, as one stream of server-sent events',
  query: z.strictObject({ news: flag }),
  answers: { status: 200, mediaType: 'text/event-stream', schema: z.string(), events: StreamFrame },
  async handle({ caller, ended, input }, deps) {
    const { sessions, streams, outbox } = deps
    const gone = new AbortController()
    const news = input.query.news === false ? null : followNews(sessions, gone.signal)
    const stream = streams.open(idOf(caller), news)
    const source: EventSource<StreamFrame> = {
      name: 'several sessions',
      hold: (piece) => outbox.hold(piece, privateCopies),
      follow(over) {
        over.addEventListener('abort', () => gone.abort(), { once: true })
        return stream.frames(over)
      },
      encode: (frame) =>
        frame.type === 'stream'
          ? [encoder.encode(`event: stream\ndata: ${JSON.stringify(frame)}\n\n`)]
          : encodeFrame('sessionId' in frame ? frameFor(caller, frame) : frame),
      isLast: (frame) => frame.type === 'end' && !('sessionId' in frame),
      end,
    }
    return ok(answerEventStream(source, { ...deps, ended }))
  },
})

const followSession = defineRoute({
  on: 'POST /v1/stream/:stream/follow',
  summary: 'Add a session to a stream, from a cursor or from a snapshot',
  body: z.strictObject({
    session: z.string().min(1).max(200),
    after: Seq.optional(),
    attachment: ClientId.optional(),
    role: z.string().optional(),
    children: z.boolean().optional(),
  }),
  answers: answersJson(z.object({ session: SessionId })),
  refuses: [...sessionFaults, 'not_found', 'invalid_role', 'foreign_attachment'],
  async handle({ path, caller, input }, deps) {
    const stream = path['stream'] ?? ''
    const refusal = deps.streams.findForeign(stream, idOf(caller)) ?? deps.streams.findFull(stream)
    if (refusal) return refuse(refusal)
    const name = parseSessionName(input.body.session)
    if (!name.ok) return name
    const following = await openFollowing(input.body, caller, deps)
    if (!following.ok) return following
    const failed = deps.streams.add(stream, following.value)
    return failed ? refuse(failed) : ok({ session: following.value.id })
  },
})

const unfollowSession = defineRoute({
  on: 'POST /v1/stream/:stream/unfollow',
  summary: 'Drop a session from a stream; its last frame there is `end`',
  body: z.strictObject({ session: SessionId }),
  answers: answersJson(z.object({})),
  refuses: ['not_found', 'not_subscribed'],
  async handle({ path, caller, input }, { streams }) {
    const stream = path['stream'] ?? ''
    const failed = streams.findForeign(stream, idOf(caller)) ?? streams.drop(stream, input.body.session)
    return failed ? refuse(failed) : ok({})
  },
})

export const streamRoutes: readonly Route[] = [getStream, followSession, unfollowSession]
