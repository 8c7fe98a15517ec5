import { z } from 'zod'
import { ClientEvent } from '../event/client.ts'

/** Keeps an event of a client's own for other clients; once, however often it is sent. */
export const AppendClientEvent = z.strictObject({
  type: z.literal('appendClientEvent'),
  event: ClientEvent,
  /** With this one they cover the whole session. */
  complete: z.boolean().optional(),
})
export type AppendClientEvent = z.infer<typeof AppendClientEvent>
