import { z } from 'zod'
import { MessageId } from '../id.ts'

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
