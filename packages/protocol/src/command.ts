import { z } from 'zod'
import { Content } from './content.ts'
import { escapeLine } from './hostile-text.ts'
import { ApprovalId, type ClientId, type CommandId } from './id.ts'
import { didYouMean } from './nearest.ts'
import { clip } from './text-of.ts'

/** What a field is for, to whoever left it out or sent something else. */
const being = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? `missing; give ${what}` : `give ${what}`),
})

/** Text is the common case, so a command takes it bare; inside, a prompt is always a list of parts. */
const PromptContent = z.union(
  [z.string().transform((text): Content => [{ type: 'text', text }]), Content],
  being('what to say, as a text or a list of parts'),
)

export const SendPrompt = z.strictObject({ type: z.literal('sendPrompt'), content: PromptContent })

export const Decision = z.enum(['approve', 'reject'], being('approve or reject'))
export type Decision = z.infer<typeof Decision>

export const RespondToApproval = z.strictObject({
  type: z.literal('respondToApproval'),
  decision: Decision,
  /** Without it, the oldest that waits. */
  approval: ApprovalId.optional(),
  /** For the model, with a rejection. */
  message: z.string().max(10_000).optional(),
})

export const Abort = z.strictObject({ type: z.literal('abort') })
export const Continue = z.strictObject({ type: z.literal('continue') })
export const EnterPlan = z.strictObject({ type: z.literal('enterPlan') })
export const EnterExec = z.strictObject({ type: z.literal('enterExec') })

/** What a client asks for: imperative, named as the method of `Session` that sends it; may be refused. */
export const Command = z.discriminatedUnion('type', [
  SendPrompt,
  RespondToApproval,
  Abort,
  Continue,
  EnterPlan,
  EnterExec,
])
export type Command = z.infer<typeof Command>
/** A command as it is written by a client, before its defaults are filled in. */
export type CommandInput = z.input<typeof Command>
export type CommandType = Command['type']

export const commandTypes: readonly CommandType[] = Command.options.map((option) => option.shape.type.value)

/** What is said to whoever asks for a command that does not exist. */
export const unknownCommand = (name: string): string =>
  `There is no command ${escapeLine(clip(name, 100))}.${didYouMean(name, commandTypes) || ` Known are: ${commandTypes.join(', ')}.`}`

/** A command with what says whose it is and that it is the same one when sent again. */
export type Submission = {
  readonly commandId: CommandId
  readonly by: ClientId | null
  readonly command: Command
}

/** What a command is answered. `seq` is the first record it wrote, or where the session stood if it wrote none. */
export const Answer = z.object({
  seq: z.int().min(0),
  result: z.record(z.string(), z.unknown()),
})
export type Answer = z.infer<typeof Answer>
