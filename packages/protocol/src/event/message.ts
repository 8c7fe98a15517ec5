import { z } from 'zod'
import { MessageId, TurnNumber } from '../value/id.ts'

/**
 * A message as its program gave it, for whoever asks for it back. Its content, null here, is in the first of the next
 * `records` that has words: those are what the message means to screens and models.
 */
export const MessageGiven = z.object({
  type: z.literal('message.given'),
  turn: TurnNumber,
  message: z.record(z.string(), z.json()),
  records: z.int().min(0),
})

/** A message kept in the model's context for good, or no longer. */
export const MessagePinned = z.object({
  type: z.literal('message.pinned'),
  message: MessageId,
  pinned: z.boolean(),
  /** About how many tokens it is: pins may fill a part of the context, and no more. */
  tokens: z.int().min(0).optional(),
})

/** A tool call is shown folded, or open; all of them where none is named. Only for screens. */
export const MessageCollapsed = z.object({
  type: z.literal('message.collapsed'),
  message: MessageId.nullable(),
  collapsed: z.boolean(),
})
