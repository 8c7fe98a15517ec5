import { ClientId, fault, ok, Role, refuse, Seq } from '@holdfast/protocol'
import { z } from 'zod'
import { openEventStream } from '../event-stream.ts'
import { defineRoute, parse, wholeNumber } from '../route.ts'

const cursor = wholeNumber.pipe(Seq).optional()

export const getEvents = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/events',
  access: 'token',
  summary: 'Follow a session: its frames as server-sent events, from a cursor or from a snapshot',
  query: z.strictObject({ after: cursor, attachment: ClientId.optional(), role: z.string().optional() }),
  answers: { status: 200, mediaType: 'text/event-stream', schema: z.string() },
  async handle({ session, request, input }, parts) {
    // A browser that reconnects sends its newer cursor here and the old one in the address.
    const last = parse(cursor, request.headers.get('last-event-id') ?? undefined)
    if (!last.ok) return last
    const role = Role.optional().safeParse(input.query.role)
    if (!role.success)
      return refuse(fault('invalid_role', `There is no role ${input.query.role}. A role is driver or viewer.`))
    const handle = await parts.sessions.open(session)
    if (!handle.ok) return handle
    const after = last.value ?? input.query.after
    const body = openEventStream({
      handle: handle.value,
      after,
      client: input.query.attachment,
      role: role.data,
      ...parts,
    })
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'transfer-encoding': 'chunked', // what makes the adapter send the first bytes at once
      'x-accel-buffering': 'no',
      connection: 'close', // a stream that has ended leaves no idle socket for the server's close to wait for
    }
    return ok(new Response(body, { headers }))
  },
})
