import { ClientId, encodeFrame, type Frame, type FrameOf, ok, Seq } from '@holdfast/protocol'
import { z } from 'zod'
import { answerEventStream, comeBackMs, openEventStream } from '../http/event-stream.ts'
import { readRole } from '../http/read-role.ts'
import { defineRoute, parse, wholeNumber } from '../http/route.ts'

const cursor = wholeNumber.pipe(Seq).optional()

export const getEvents = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/events',
  access: 'token',
  summary: 'Follow a session: its frames as server-sent events, from a cursor or from a snapshot',
  query: z.strictObject({ after: cursor, attachment: ClientId.optional(), role: z.string().optional() }),
  answers: { status: 200, mediaType: 'text/event-stream', schema: z.string() },
  async handle({ session, request, caller, input }, { sessions, attachments, closing, heartbeatMs, onProblem }) {
    // A browser that reconnects sends its newer cursor here and the old one in the address.
    const last = parse(cursor, request.headers.get('last-event-id') ?? undefined)
    if (!last.ok) return last
    const asked = readRole(input.query.role)
    if (!asked.ok) return asked
    const handle = await sessions.open(session)
    if (!handle.ok) return handle

    const after = last.value ?? input.query.after
    const client = input.query.attachment
    const role = caller === 'viewer' ? 'viewer' : asked.value // who may not command must not keep others from it
    const { id } = handle.value
    const end = (reason: FrameOf<'end'>['reason'], retryMs: number | null): Frame => ({
      ...{ type: 'end', sessionId: id, reason, retryMs },
    })
    const stream = client === undefined ? null : attachments.stream(id, client)
    const body = openEventStream<Frame>({
      name: id,
      follow(gone) {
        gone.addEventListener('abort', () => stream?.end(), { once: true })
        return handle.value.subscribe({ after, client, role, signal: gone })
      },
      encode: encodeFrame,
      endings: [
        { when: closing, last: end('closing', comeBackMs) },
        ...(stream ? [{ when: stream.left, last: end('left', null) }] : []),
      ],
      failed: end('failed', comeBackMs),
      heartbeatMs,
      onProblem,
    })
    return ok(answerEventStream(body))
  },
})
