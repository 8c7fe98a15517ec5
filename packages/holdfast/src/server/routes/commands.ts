import { randomUUID } from 'node:crypto'
import { notSubscribed, toSubmission } from '@holdfast/core'
import {
  Answer,
  ClientId,
  Command,
  CommandId,
  commandFault,
  commandTypes,
  type Fault,
  type FaultCode,
  fault,
  limits,
  ok,
  type Result,
  Role,
  refuse,
  type SessionId,
  unknownCommand,
} from '@holdfast/protocol'
import { z } from 'zod'
import { findRefusal } from '../auth/authorize.ts'
import { commandAccess } from '../auth/roles.ts'
import { answersJson, type Call, defineRoute, flag, parse, type Route } from '../define/route.ts'
import type { ServerDeps } from '../define/server-deps.ts'
import { nameSchema } from '../openapi/components.ts'
import { type Attachments, idOf, readRole, unattachedClient } from '../streams/attachments.ts'

const commandNames: ReadonlySet<string> = new Set(commandTypes)
const withId = { commandId: CommandId.optional() }
const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const CommandRequest = nameSchema(
  'CommandRequest',
  z.union(
    Command.options.map((option) => nameSchema(`${capitalize(option.shape.type.value)}Command`, option.extend(withId))),
  ),
)

/** What `decide`, and the look-ups before it, refuse commands with. */
const commandFaults: readonly FaultCode[] = [
  ...(['empty_prompt', 'bad_boundary', 'unknown_level', 'unknown_model', 'invalid_role', 'bad_config'] as const),
  ...(['foreign_attachment', 'outside_workdir', 'outside_boundary', 'untrusted_workspace'] as const),
  ...(['not_found', 'approval_not_found', 'blob_not_found', 'branch_not_found', 'turn_not_found'] as const),
  ...(['message_not_found', 'queue_entry_not_found', 'command_not_found', 'skill_not_found'] as const),
  ...(['turn_running', 'nothing_to_continue', 'nothing_to_compact', 'nothing_to_summarize'] as const),
  ...(['nothing_to_undo', 'no_pending_approval', 'already_decided', 'driver_taken', 'not_subscribed'] as const),
  ...(['key_taken', 'handle_taken', 'no_rotation', 'skill_active', 'skill_not_active', 'hook_vetoed'] as const),
  ...(['spending_cap', 'price_unknown'] as const),
  ...(['over_budget', 'no_credentials', 'workdir_needed', 'context_too_large', 'command_id_reused'] as const),
  ...(['content_changed', 'queue_full', 'missing_package', 'summary_failed', 'mcp_failed'] as const),
]

const postCommand = defineRoute({
  on: 'POST /v1/sessions/:id/commands',
  summary: 'Send a command to a session; answers once its records are on stable storage',
  body: z.looseObject({ type: z.string(), ...withId }),
  bodyDescribed: CommandRequest,
  headers: z.object({ 'holdfast-attachment': ClientId.optional() }),
  answers: answersJson(Answer, 202),
  refuses: commandFaults,
  async handle({ session, caller, input }, { sessions, attachments, ownFiles }) {
    const { commandId, ...fields } = input.body
    if (!commandNames.has(fields.type)) return refuse(fault('bad_request', unknownCommand(fields.type)))
    const command = Command.safeParse(fields)
    if (!command.success) return refuse(commandFault(fields, command.error))
    const denied = caller && findRefusal(caller, commandAccess(command.data), `The command ${command.data.type}`)
    if (denied) return refuse(denied)
    const as = input.headers['holdfast-attachment']
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const refusal = as && command.data.type !== 'abort' && findUnattached(attachments, handle.value.id, as)
    if (refusal) return refuse(refusal)
    const foreign = as && attachments.findForeign(handle.value.id, as, caller)
    if (foreign) return refuse(foreign)
    const foreignFile = await ownFiles.findForeign(caller, handle.value, command.data)
    if (foreignFile) return refuse(foreignFile)
    // A caller without an attachment may command while there is no driver. An admin always may.
    const by = as ?? (caller?.role === 'admin' ? null : unattachedClient)
    const submission = toSubmission(command.data, by, commandId)
    return handle.value.dispatch({ ...submission, mayDrive: true, person: idOf(caller) })
  },
})

/** Returns a fault if no client of this name is attached. An abort needs only a token that may drive. */
const findUnattached = (attachments: Attachments, session: SessionId, client: ClientId): Fault | null =>
  attachments.has(session, client) ? null : notSubscribed(client)

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

export const commandRoutes: readonly Route[] = [
  ...[openAttachment, leaveAttachment, claimDriver, handOverDriver, postCommand],
]
