import { z } from 'zod'
import { ClientId, CommandId, Instant, Seq } from '../value/id.ts'
import { Event } from './event.ts'

/** An event the log has accepted. */
export const Recorded = z.object({
  seq: Seq,
  at: Instant,
  v: z.int().min(1),
  /** The client whose command this is, where there was one. */
  by: ClientId.optional(),
  /** On the first record of a command's batch: what makes the command idempotent. */
  commandId: CommandId.optional(),
  event: Event,
})
export type Recorded = z.infer<typeof Recorded>

/** A record whose bytes no longer match their checksum: its place is kept, its content is not believed. */
export type LostRecord = { readonly seq: Seq; readonly lost: true }
