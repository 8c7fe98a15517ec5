import { z } from 'zod'
import { limits } from './limits.ts'

const text = z.string().max(limits.promptBytesMax)

/**
 * The message as its program has it, its content null here: kept word for word, for whoever asks for it back; empty where
 * it has nothing but a role and a content. Such a message is one of a conversation that the program leads itself: it goes
 * on with the turn that was, and results come when they come.
 */
const given = z.record(z.string(), z.json()).optional()

/** A message as a program brings it from elsewhere: said by someone, somewhere, and now part of the line. */
export const SeedMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: text, given }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text,
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
  /** For people; the model is told only what is `given`. */
  z.strictObject({ role: z.literal('system'), content: text, given }),
  /** What a call of the assistant message before it came to. */
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
