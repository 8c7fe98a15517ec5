import { createHash } from 'node:crypto'
import {
  ClientId,
  type Command,
  CommandId,
  createCommandId,
  explainIssue,
  fault,
  HoldfastError,
  ok,
  type Result,
  Role,
  refuse,
  type SubmitOptions,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { AttachedClient } from '../stream/driver-control.ts'

type Submitter = { readonly commandId?: CommandId | undefined; readonly by: ClientId | null }

/** Which command it is and whose, if the caller said; plain texts become ids here, once. */
export function parseSubmitter({ commandId, as }: SubmitOptions): Result<Submitter> {
  const command = CommandId.optional().safeParse(commandId)
  if (!command.success) return refuse(fault('bad_request', `commandId: ${explainIssue(command.error)}.`))
  const client = ClientId.optional().safeParse(as)
  if (!client.success) return refuse(fault('bad_request', `as: ${explainIssue(client.error)}.`))
  return ok({ commandId: command.data, by: client.data ?? null })
}

/** Who subscribes, if they said. A subscription has no other way to refuse than to throw. */
export function parseAttachment({ client, role }: Pick<SubscribeOptions, 'client' | 'role'>): AttachedClient {
  const named = ClientId.optional().safeParse(client)
  if (!named.success) throw new HoldfastError(fault('bad_request', `client: ${explainIssue(named.error)}.`))
  const asked = Role.optional().safeParse(role)
  if (!asked.success)
    throw new HoldfastError(fault('invalid_role', `There is no role ${role}. A role is driver or viewer.`))
  return { client: named.data ?? null, role: asked.data }
}

/**
 * The id of a command whose sender named none. A command is admitted once: a client's own event goes under an id made of
 * its own, so that it is kept once, whoever sends it and however often.
 */
export const commandIdFor = (command: Command): CommandId =>
  command.type === 'appendClientEvent' ? eventCommandId(command.event.eventId) : createCommandId()

/** By its code units: two ids that differ in half a character only are two. */
const eventCommandId = (eventId: string): CommandId =>
  CommandId.parse(`event-${createHash('sha256').update(Buffer.from(eventId, 'utf16le')).digest('base64url')}`)
