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
  refuse,
  type SessionId,
  unknownCommand,
} from '@holdfast/protocol'
import { z } from 'zod'
import { findRefusal } from '../../auth/authorize.ts'
import { commandAccess } from '../../auth/roles.ts'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'
import { nameSchema } from '../../openapi/components.ts'
import { type Attachments, idOf, unattachedClient } from '../../streams/attachments.ts'

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

export const commandRoutes: readonly Route[] = [postCommand]
