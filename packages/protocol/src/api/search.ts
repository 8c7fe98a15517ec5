import { z } from 'zod'
import { Instant, MessageId, SessionId } from '../value/id.ts'

/** Who a found message is from: a person, the model (its thinking too), a tool, or the session itself. */
export const SearchRole = z.enum(['user', 'assistant', 'tool', 'system'])
export type SearchRole = z.infer<typeof SearchRole>

export const SearchOptions = z.strictObject({
  /** Words that must all occur, in any case: `word`, `begin*`, `"a phrase"`. */
  text: z.string().min(1).max(1000),
  workspace: z.string().optional(),
  session: SessionId.optional(),
  role: SearchRole.optional(),
  tool: z.string().min(1).max(200).optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  limit: z.int().min(1).max(1000).optional(),
  cursor: z.string().max(500).optional(),
})
export type SearchOptions = z.input<typeof SearchOptions>

export const FoundMessages = z.object({
  hits: z.array(
    z.object({
      sessionId: SessionId,
      title: z.string(),
      /** The message to jump to. */
      messageId: MessageId,
      kind: SearchRole,
      at: Instant,
      snippet: z.string(),
    }),
  ),
  next: z.string().nullable(),
})
export type FoundMessages = z.infer<typeof FoundMessages>
