import { randomUUID } from 'node:crypto'
import { toSubmission } from '@holdfast/core'
import { Answer, ClientId, type Command, limits, ok, type Result, Role } from '@holdfast/protocol'
import { z } from 'zod'
import { readRole } from '../http/attachments.ts'
import { answersJson, type Call, defineRoute, parse, type Route, type ServerDeps } from '../http/route.ts'

const path = '/v1/sessions/:id/attachments'

const openAttachment = defineRoute({
  method: 'POST',
  path,
  access: 'token',
  summary: 'Attach to a session before following it; the attachment waits a while for its stream',
  body: z.strictObject({ role: z.string().optional(), attachment: ClientId.optional() }),
  answers: answersJson(z.object({ attachment: ClientId, role: Role, keptMs: z.int() }), 201),
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
  summary: 'Leave a session: ends the streams of this attachment and gives up its role',
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

const claimDriver = defineRoute({
  method: 'POST',
  path: `${path}/:attachment/claim`,
  access: 'token',
  summary: 'Make this attachment the driver, if there is none',
  answers: answersJson(Answer, 202),
  handle: (call, deps) => submitAs(call, deps, { type: 'claimDriver' }),
})

const handOverDriver = defineRoute({
  method: 'POST',
  path: `${path}/:attachment/handover`,
  access: 'token',
  summary: 'Hand the driver role of this attachment to another one',
  body: z.strictObject({ client: ClientId }),
  answers: answersJson(Answer, 202),
  handle: (call, deps) => submitAs(call, deps, { type: 'handOver', client: call.input.body.client }),
})

/** Submits a command for the attachment in the path. */
async function submitAs(
  { session, path }: Call<unknown, unknown>,
  { sessions }: ServerDeps,
  command: Command,
): Promise<Result<Answer>> {
  const as = readAttachment(path)
  if (!as.ok) return as
  const handle = await sessions.open(session)
  if (!handle.ok) return handle
  return handle.value.dispatch(toSubmission(command, as.value))
}

function readAttachment({ attachment }: Call<unknown, unknown>['path']): Result<ClientId> {
  const named = parse(z.object({ attachment: ClientId }), { attachment })
  return named.ok ? ok(named.value.attachment) : named
}

export const attachmentRoutes: readonly Route[] = [openAttachment, leaveAttachment, claimDriver, handOverDriver]
