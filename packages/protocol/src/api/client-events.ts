import { z } from 'zod'
import { ClientEvent } from '../event/session.ts'
import { ClientId, Instant, Seq } from '../value/id.ts'
import { limits } from '../value/limits.ts'

/** A client's own event as it was stored. */
export const StoredClientEvent = z.object({
  /** The seq of its record. */
  seq: Seq,
  /** When it was stored. */
  at: Instant,
  /** The client that stored it; null for the embedding program. */
  by: ClientId.nullable(),
  /** The event as the client sent it. */
  event: ClientEvent,
})
export type StoredClientEvent = z.infer<typeof StoredClientEvent>

/** Which stored client events to read. */
export type ClientEventRequest = {
  /** Only events after this seq; all when absent. */
  readonly after?: Seq | undefined
  /** The largest number of events to return. */
  readonly limit?: number | undefined
}

export const ClientEventRequest = z.strictObject({
  after: Seq.optional(),
  limit: z.int().min(1).max(limits.pageRecordsMax).optional(),
})

/** A page of client events, oldest first. `after` is the cursor of the next page, null at the end. */
export const ClientEventPage = z.object({ events: z.array(StoredClientEvent), after: Seq.nullable() })
export type ClientEventPage = z.infer<typeof ClientEventPage>
