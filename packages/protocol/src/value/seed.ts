import { z } from 'zod'
import { ContentPart } from './content.ts'
import { limits } from './limits.ts'

const text = z.string().max(limits.promptBytesMax)

/**
 * The original message of an embedding program, with null content; stored to return it unchanged. Empty when it has only
 * a role and content. Such a message continues the current turn, and its tool results may come at any time.
 */
const given = z.record(z.string(), z.json()).optional()

/** A message from elsewhere that a program adds to a session. */
export const SeedMessage = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    /** A text, or text and stored files. */
    content: z.union([text, z.array(ContentPart).min(1).max(limits.promptPartsMax)]),
    given,
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text,
    /** Shown to people, never sent: thinking belongs to the provider that wrote it. */
    thinking: text.optional(),
    toolCalls: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(200),
          tool: z.string().min(1).max(200),
          args: z.record(z.string(), z.json()).default({}),
        }),
      )
      .max(limits.callsPerRoundMax)
      .optional(),
    given,
  }),
  /** For people; the model gets it only if `given` is set. */
  z.strictObject({ role: z.literal('system'), content: text, level: z.enum(['info', 'error']).optional(), given }),
  /** The result of a call in the preceding assistant message. */
  z.strictObject({
    role: z.literal('tool'),
    content: text,
    toolCallId: z.string().min(1).max(200),
    isError: z.boolean().optional(),
    given,
  }),
])
export type SeedMessage = z.infer<typeof SeedMessage>

export const SeedMessages = z.array(SeedMessage).max(limits.seedMessagesMax)
export type SeedMessages = z.infer<typeof SeedMessages>
