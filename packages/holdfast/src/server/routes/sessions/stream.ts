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
  StreamStarted,
} from '@holdfast/protocol'
import { z } from 'zod'
import type { Caller } from '../../auth/access.ts'
import { frameFor } from '../../auth/public-storage-error.ts'
import { answersJson, defineRoute, flag, type Route } from '../../define/route.ts'
import { sessionFaults } from '../../define/route-faults.ts'
import { idOf } from '../../streams/attachments.ts'
import { answerEventStream, type EndReason, type EventSource } from '../../streams/event-stream.ts'
import { openFollowing } from '../../streams/follow-session.ts'
import { privateCopies } from '../../streams/outbox.ts'
import type { SentFrame } from '../../streams/streams.ts'
import { followNews } from './events.ts'

const end = (reason: EndReason, retryMs: number | null): SentFrame => {
  invariant(reason !== 'left', 'a client leaves a session, not the stream')
  return { type: 'end', reason, retryMs }
}
const encoder = new TextEncoder()

/** Returns the bytes of a frame. Those of a stream that joined this connection begin with its tag, a field that others ignore. */
function encode(frame: SentFrame, caller: Caller | null): readonly Uint8Array[] {
  if (frame.type === 'tagged') return [encoder.encode(`tag: ${frame.tag}\n`), ...encode(frame.frame, caller)]
  if (frame.type === 'stream') return [encoder.encode(`event: stream\ndata: ${JSON.stringify(frame)}\n\n`)]
  return encodeFrame('sessionId' in frame ? frameFor(caller, frame) : frame)
}

const getStream = defineRoute({
  on: 'GET /v1/stream',
  summary: 'Follow several sessions, and the news of all, as one stream of server-sent events',
  query: z.strictObject({ news: flag }),
  answers: { status: 200, mediaType: 'text/event-stream', schema: z.string(), events: StreamFrame },
  async handle({ caller, ended, input }, deps) {
    const { sessions, streams, outbox } = deps
    const gone = new AbortController()
    const news = input.query.news === false ? null : followNews(sessions, gone.signal)
    const hold = (piece: Uint8Array) => outbox.hold(piece, privateCopies)
    const holdFrame = (frame: SentFrame) => {
      const releases = encode(frame, caller).map(hold)
      return () => {
        for (const release of releases) release()
      }
    }
    const stream = streams.open(idOf(caller), news, holdFrame)
    const source: EventSource<SentFrame> = {
      name: 'several sessions',
      hold,
      follow(over) {
        over.addEventListener('abort', () => gone.abort(), { once: true })
        return stream.frames(over)
      },
      encode: (frame) => encode(frame, caller),
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

const joinStream = defineRoute({
  on: 'POST /v1/stream/:stream/join',
  summary: 'Open another stream on the connection of a stream; its events have the line `tag`',
  body: z.strictObject({ tag: z.string().regex(/^[a-z0-9]{1,32}$/), news: z.boolean().optional() }),
  answers: answersJson(StreamStarted.pick({ stream: true })),
  refuses: ['not_found', 'too_large'],
  async handle({ path, caller, input }, { sessions, streams }) {
    const stream = path['stream'] ?? ''
    const { tag, news = true } = input.body
    const refusal = streams.findForeign(stream, idOf(caller))
    if (refusal) return refuse(refusal)
    const joined = streams.join(stream, tag, (gone) => (news ? followNews(sessions, gone) : null))
    return joined.ok ? ok({ stream: joined.value }) : joined
  },
})

const endStream = defineRoute({
  on: 'DELETE /v1/stream/:stream',
  summary: 'End a stream that joined the connection of another one',
  answers: { status: 204, mediaType: 'application/json', schema: null },
  refuses: ['not_found'],
  async handle({ path, caller }, { streams }) {
    const stream = path['stream'] ?? ''
    const failed = streams.findForeign(stream, idOf(caller)) ?? streams.end(stream)
    return failed ? refuse(failed) : ok(new Response(null, { status: 204 }))
  },
})

export const streamRoutes: readonly Route[] = [getStream, followSession, unfollowSession, joinStream, endStream]
