import { CommandId } from '../value/id.ts'

/** Not `randomUUID`: a browser offers that to https pages only, and a server at home has no certificate. */
export function createCommandId(): CommandId {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return CommandId.parse(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''))
}
