import { createHash } from 'node:crypto'
import { type Command, CommandId, createCommandId } from '@holdfast/protocol'

/**
 * The id of a command whose sender named none. A command is admitted once: a client's own event goes under an id made of
 * its own, so that it is kept once, whoever sends it and however often.
 */
export const commandIdFor = (command: Command): CommandId =>
  command.type === 'appendClientEvent' ? eventCommandId(command.event.eventId) : createCommandId()

/** By its code units: two ids that differ in half a character only are two. */
const eventCommandId = (eventId: string): CommandId =>
  CommandId.parse(`event-${createHash('sha256').update(Buffer.from(eventId, 'utf16le')).digest('base64url')}`)
