import { type LocalSession, toSubmission } from '@holdfast/core'
import { type Answer, ClientId, Command, CommandId, type CommandInput, type Result } from '@holdfast/protocol'

/** Submits a command in the name of a client, attached or not: seats come and go between its parse and its turn. */
export function submitAs(
  handle: LocalSession,
  command: CommandInput,
  by: string | null,
  commandId: string,
): Promise<Result<Answer>> {
  const parsed = Command.safeParse(command)
  if (!parsed.success) return handle.submit(command, { commandId })
  return handle.dispatch(toSubmission(parsed.data, by === null ? null : ClientId.parse(by), CommandId.parse(commandId)))
}
