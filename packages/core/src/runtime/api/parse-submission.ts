import { createHash } from 'node:crypto'
import {
  ClientId,
  Command,
  CommandId,
  type CommandInput,
  commandFault,
  createCommandId,
  explainIssue,
  fault,
  HoldfastError,
  ok,
  type Result,
  Role,
  refuse,
  type Submission,
  type SubmitOptions,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { AttachedClient } from '../stream/driver-control.ts'

/** Parses a command and its options: plain JSON and texts become a submission here, once. */
export function parseSubmission(input: CommandInput, { commandId, as }: SubmitOptions): Result<Submission> {
  const command = Command.safeParse(input)
  if (!command.success) return refuse(commandFault(input, command.error))
  const id = CommandId.optional().safeParse(commandId)
  if (!id.success) return refuse(fault('bad_request', `commandId: ${explainIssue(id.error)}.`))
  const client = ClientId.optional().safeParse(as)
  if (!client.success) return refuse(fault('bad_request', `as: ${explainIssue(client.error)}.`))
  return ok(toSubmission(command.data, client.data ?? null, id.data))
}

/** Builds the submission of a parsed command; `by` is null for the embedding program itself. */
export const toSubmission = (command: Command, by: ClientId | null, commandId?: CommandId): Submission => ({
  commandId: commandId ?? commandIdFor(command),
  by,
  command,
})

/** Parses who subscribes. Throws a bad name or role, because a subscription cannot return a refusal. */
export function parseAttachment({ client, role }: Pick<SubscribeOptions, 'client' | 'role'>): AttachedClient {
  const named = ClientId.optional().safeParse(client)
  if (!named.success) throw new HoldfastError(fault('bad_request', `client: ${explainIssue(named.error)}.`))
  const asked = Role.optional().safeParse(role)
  if (!asked.success)
    throw new HoldfastError(fault('invalid_role', `There is no role ${role}. A role is driver or viewer.`))
  return { client: named.data ?? null, role: asked.data }
}

/** Returns a new id, or for a client's own event one derived from the event's id: the event is stored once. */
const commandIdFor = (command: Command): CommandId =>
  command.type === 'appendClientEvent' ? eventCommandId(command.event.eventId) : createCommandId()

/** Hashes UTF-16 code units, so that ids that differ in an unpaired surrogate stay different. */
const eventCommandId = (eventId: string): CommandId =>
  CommandId.parse(`event-${createHash('sha256').update(Buffer.from(eventId, 'utf16le')).digest('base64url')}`)
