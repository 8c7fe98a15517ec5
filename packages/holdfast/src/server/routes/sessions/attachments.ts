import { randomUUID } from 'node:crypto'
import { toSubmission } from '@holdfast/core'
import { Answer, ClientId, type Command, limits, ok, type Result, Role, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, type Call, defineRoute, flag, parse, type Route } from '../../define/route.ts'
import type { ServerDeps } from '../../define/server-deps.ts'
import { idOf, readRole } from '../../streams/attachments.ts'

const openAttachment = defineRoute({
  on: 'POST /v1/sessions/:id/attachments',
  summary: 'Attach to a session before following it; the attachment waits a while for its stream',
  body: z.strictObject({
    role: z.string().optional(),
    attachment: ClientId.optional(),
    keptMs: z.int().min(0).max(limits.seatKeptMsMax).optional(),
  }),
  answers: {
    ...answersJson(z.object({ attachment: ClientId, role: Role, keptMs: z.int() }), 201),
    headers: { Location: 'The path of the attachment' },
  },
  refuses: ['invalid_role', 'foreign_attachment'],
  async handle({ session, caller, input }, { sessions, attachments }) {
    const asked = readRole(input.body.role)
    if (!asked.ok) return asked
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const { attachment = ClientId.parse(randomUUID()), keptMs = limits.detachedClientMs } = input.body
    const role = await attachments.open(handle.value, { client: attachment, role: asked.value, keptMs }, caller)
    if (!role.ok) return role
    const headers = { location: `/v1/sessions/${handle.value.id}/attachments/${encodeURIComponent(attachment)}` }
    const body = { attachment, role: role.value, keptMs }
    return ok(Response.json(body, { status: 201, headers }))
  },
})

const leaveAttachment = defineRoute({
  on: 'DELETE /v1/sessions/:id/attachments/:attachment',
  summary: 'Leave a session: ends the streams of this attachment and gives up its role',
  answers: { status: 204, mediaType: 'application/json', schema: null },
  refuses: ['not_subscribed', 'foreign_attachment'],
  async handle({ session, caller, path }, { sessions, attachments }) {
    const attachment = readAttachment(path)
    if (!attachment.ok) return attachment
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const left = attachments.leave(handle.value.id, attachment.value, caller)
    return left.ok ? ok(new Response(null, { status: 204 })) : left
  },
})

const claimDriver = defineRoute({
  on: 'POST /v1/sessions/:id/attachments/:attachment/claim',
  summary: 'Make this attachment the driver, if there is none; `takeOver` also if another one of yours is',
  query: z.strictObject({ takeOver: flag }),
  answers: answersJson(Answer, 202),
  refuses: ['not_subscribed', 'foreign_attachment', 'driver_taken'],
  handle: (call, deps) => submitAs(call, deps, { type: 'claimDriver', takeOver: call.input.query.takeOver }),
})

const handOverDriver = defineRoute({
  on: 'POST /v1/sessions/:id/attachments/:attachment/handover',
  summary: 'Hand the driver role of this attachment to another one',
  body: z.strictObject({ client: ClientId }),
  answers: answersJson(Answer, 202),
  refuses: ['not_subscribed', 'foreign_attachment'],
  handle: (call, deps) => submitAs(call, deps, { type: 'handOver', client: call.input.body.client }),
})

/** Submits a command for the attachment in the path. */
async function submitAs(
  { session, caller, path }: AnyCall,
  { sessions, attachments }: ServerDeps,
  command: Command,
): Promise<Result<Answer>> {
  const as = readAttachment(path)
  if (!as.ok) return as
  const handle = await sessions.open(session)
  if (!handle.ok) return handle
  const foreign = attachments.findForeign(handle.value.id, as.value, caller)
  if (foreign) return refuse(foreign)
  return handle.value.dispatch({ ...toSubmission(command, as.value), person: idOf(caller) })
}

type AnyCall = Call<unknown, unknown>

function readAttachment({ attachment }: AnyCall['path']): Result<ClientId> {
  const named = parse(z.object({ attachment: ClientId }), { attachment })
  return named.ok ? ok(named.value.attachment) : named
}

export const attachmentRoutes: readonly Route[] = [openAttachment, leaveAttachment, claimDriver, handOverDriver]
