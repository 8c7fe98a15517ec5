import { z } from 'zod'
import { limits } from './limits.ts'

const text = z.string().max(limits.promptBytesMax)

/** A message as a program brings it from elsewhere: said by someone, somewhere, and now part of the line. */
export const SeedMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: text }),
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
  }),
  /** For people; the model is not told. */
  z.strictObject({ role: z.literal('system'), content: text }),
  /** What a call of the assistant message before it came to. */
  z.strictObject({
    role: z.literal('tool'),
    content: text,
    toolCallId: z.string().min(1).max(200),
    isError: z.boolean().optional(),
  }),
])
export type SeedMessage = z.infer<typeof SeedMessage>

export const SeedMessages = z.array(SeedMessage).max(limits.seedMessagesMax)
export type SeedMessages = z.infer<typeof SeedMessages>
