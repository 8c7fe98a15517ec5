import { z } from 'zod'
import { limits } from '../value/limits.ts'

/** What a client wants other clients to see again, in words of its own. */
export const ClientEvent = z
  .strictObject({
    /** The same id is the same event: it is kept once. */
    eventId: z.string().min(1).max(limits.clientEventIdCharsMax),
    streamId: z.string().max(limits.clientEventIdCharsMax).optional(),
    type: z.string().min(1).max(limits.clientEventIdCharsMax),
    data: z.json().optional(),
  })
  .refine((event) => JSON.stringify(event).length <= limits.clientEventCharsMax, {
    error: `at most ${limits.clientEventCharsMax} characters of JSON`,
  })
export type ClientEvent = z.infer<typeof ClientEvent>

/** A client's own event: kept verbatim, replayed to clients as a record, never sent to a model. */
export const ClientSaid = z.object({
  type: z.literal('client.said'),
  event: ClientEvent,
  /** With this one, such events cover the whole session. */
  complete: z.literal(true).optional(),
})
