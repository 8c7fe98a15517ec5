import { randomUUID } from 'node:crypto'
import { Answer, ClientId, type CommandInput, limits, ok, type Result, Role } from '@holdfast/protocol'
import { z } from 'zod'
import { readRole } from '../http/read-role.ts'
import { type Call, defineRoute, parse, type Route } from '../http/route.ts'
import type { ServerDeps } from '../http/server-deps.ts'

const path = '/v1/sessions/:id/attachments'

const openAttachment = defineRoute({
  method: 'POST',
  path,
  access: 'token',
  summary: 'Attach to a session before following it; the seat waits a while for the stream',
  body: z.strictObject({ role: z.string().optional(), attachment: ClientId.optional() }),
  answers: {
    status: 201,
    mediaType: 'application/json',
    schema: z.object({ attachment: ClientId, role: Role, keptMs: z.int() }),
  },
  async handle({ session, input }, { sessions, attachments }) {
    const asked = readRole(input.body.role)
    if (!asked.ok) return asked
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const attachment = input.body.attachment ?? ClientId.parse(randomUUID())
    const role = await attachments.open(handle.value, attachment, asked.value)
    if (!role.ok) return role
    const headers = { location: `/v1/sessions/${handle.value.id}/attachments/${encodeURIComponent(attachment)}` }
    return ok(
      Response.json({ attachment, role: role.value, keptMs: limits.detachedClientMs }, { status: 201, headers }),
    )
  },
})

const leaveAttachment = defineRoute({
  method: 'DELETE',
  path: `${path}/:attachment`,
  access: 'token',
  summary: 'Leave a session: the seat is free and the streams of this attachment end',
  answers: { status: 204, mediaType: 'application/json', schema: null },
  async handle({ session, path }, { sessions, attachments }) {
    const attachment = readAttachment(path)
    if (!attachment.ok) return attachment
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const left = attachments.leave(handle.value.id, attachment.value)
    return left.ok ? ok(new Response(null, { status: 204 })) : left
  },
})

const claimSeat = defineRoute({
  method: 'POST',
  path: `${path}/:attachment/claim`,
  access: 'token',
  summary: "Take the driver's seat for this attachment, if it is vacant",
  answers: { status: 202, mediaType: 'application/json', schema: Answer },
  handle: (call, parts) => submitAs(call, parts, { type: 'claimDriver' }),
})

const handOverSeat = defineRoute({
  method: 'POST',
  path: `${path}/:attachment/handover`,
  access: 'token',
  summary: "Give this attachment's driver's seat to another who is attached",
  body: z.strictObject({ client: ClientId }),
  answers: { status: 202, mediaType: 'application/json', schema: Answer },
  handle: (call, parts) => submitAs(call, parts, { type: 'handOver', client: call.input.body.client }),
})

/** A command in the name of the attachment in the path. */
async function submitAs(
  { session, path }: Call<unknown, unknown>,
  { sessions }: ServerDeps,
  command: CommandInput,
): Promise<Result<Response>> {
  const as = readAttachment(path)
  if (!as.ok) return as
  const handle = await sessions.open(session)
  if (!handle.ok) return handle
  const answer = await handle.value.submit(command, { as: as.value })
  return answer.ok ? ok(Response.json(answer.value, { status: 202 })) : answer
}

const Named = z.object({ attachment: ClientId })

/** The attachment in the path. */
function readAttachment({ attachment }: Call<unknown, unknown>['path']): Result<ClientId> {
  const named = parse(Named, { attachment })
  return named.ok ? ok(named.value.attachment) : named
}

export const attachmentRoutes: readonly Route[] = [openAttachment, leaveAttachment, claimSeat, handOverSeat]
