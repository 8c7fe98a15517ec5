import { HookEvent } from '@holdfast/protocol'
import { z } from 'zod'

const timeoutSecondsMax = 3600
export const hooksMax = 100
const commandCharsMax = 10_000

/** A program that runs at an event. Other fields are ignored, so that files of other programs can be used. */
export const CommandHandler = z.object({
  type: z.literal('command'),
  command: z
    .string()
    .min(1)
    .max(commandCharsMax)
    .describe('A command for sh, or the program to run if there are args.'),
  args: z
    .array(z.string().max(commandCharsMax))
    .max(1000)
    .optional()
    .describe('The arguments of the program, which then runs without a shell.'),
  timeout: z.number().min(0.1).max(timeoutSecondsMax).optional().describe('Seconds it may take: 30.'),
  onFailure: z
    .enum(['block', 'continue'])
    .optional()
    .describe('`continue`: what it was asked about goes on although it failed. By default it is refused.'),
})

/** A matcher and its hooks. */
const HookGroup = z.strictObject({
  matcher: z
    .string()
    .max(1000)
    .optional()
    .describe('Which tools it is for: all; names such as `shell|edit_file`; or a regular expression.'),
  hooks: z.array(z.strictObject(CommandHandler.shape)).max(hooksMax),
})

/** The hooks of the user's configuration, by event. */
export const HooksConfig = z.partialRecord(HookEvent, z.array(HookGroup).max(hooksMax))
export type HooksConfig = z.infer<typeof HooksConfig>
