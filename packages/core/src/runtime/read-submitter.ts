import {
  ClientId,
  CommandId,
  explainIssue,
  fault,
  ok,
  type Result,
  refuse,
  type SubmitOptions,
} from '@holdfast/protocol'

export type Submitter = { readonly commandId?: CommandId | undefined; readonly by: ClientId | null }

/** Which command it is and whose, if the caller said; plain texts become ids here, once. */
export function readSubmitter({ commandId, as }: SubmitOptions): Result<Submitter> {
  const command = CommandId.optional().safeParse(commandId)
  if (!command.success) return refuse(fault('bad_request', `commandId: ${explainIssue(command.error)}.`))
  const client = ClientId.optional().safeParse(as)
  if (!client.success) return refuse(fault('bad_request', `as: ${explainIssue(client.error)}.`))
  return ok({ commandId: command.data, by: client.data ?? null })
}
