import { z } from 'zod'
import { clip } from '../event/text-of.ts'
import { Trust } from '../event/trust.ts'
import { Queue } from '../event/turn.ts'
import { expecting, explainIssue, locateIssue } from '../text/explain.ts'
import { escapeLine } from '../text/hostile-text.ts'
import { didYouMean } from '../text/nearest.ts'
import { Content } from '../value/content.ts'
import type { Fault } from '../value/fault.ts'
import { fault } from '../value/fault.ts'
import { ApprovalId, ClientId, type CommandId, EntryId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { Budgets, ThinkingLevel } from '../value/settings.ts'
import { historyCommands } from './history-commands.ts'
import { AppendClientEvent, catalogueCommands, modelCommands } from './settings-commands.ts'

/** Text is the common case, so a command takes it bare; inside, a prompt is always a list of parts. */
const PromptContent = z.union(
  [z.string().transform((text): Content => [{ type: 'text', text }]), Content],
  expecting('what to say, as a text or a list of parts'),
)

export const SendPrompt = z.strictObject({ type: z.literal('sendPrompt'), content: PromptContent })

/** Joins the running turn at the next safe point; at rest it is a prompt. */
export const QueueSteering = z.strictObject({ type: z.literal('queueSteering'), content: PromptContent })
/** Becomes the next turn when this one ends; at rest it is a prompt. */
export const QueueFollowUp = z.strictObject({ type: z.literal('queueFollowUp'), content: PromptContent })
/** Takes everything that waits back, for putting it into the input again. */
export const RecallQueues = z.strictObject({ type: z.literal('recallQueues') })
export const ClearQueues = z.strictObject({ type: z.literal('clearQueues') })
export const DequeueSteering = z.strictObject({ type: z.literal('dequeueSteering') })
export const EditQueueEntry = z.strictObject({
  type: z.literal('editQueueEntry'),
  entry: EntryId,
  content: PromptContent,
})
export const RemoveQueueEntry = z.strictObject({ type: z.literal('removeQueueEntry'), entry: EntryId })
export const ReorderQueue = z.strictObject({
  type: z.literal('reorderQueue'),
  queue: Queue,
  entries: z.array(EntryId).min(1).max(limits.promptsQueuedMax),
})

export const Decision = z.enum(
  ['approve', 'approve_turn', 'approve_session', 'approve_always', 'reject'],
  expecting('approve, approve_turn, approve_session, approve_always or reject'),
)
export type Decision = z.infer<typeof Decision>

export const RespondToApproval = z.strictObject({
  type: z.literal('respondToApproval'),
  decision: Decision,
  /** Without it, the oldest that waits. */
  approval: ApprovalId.optional(),
  /** For the model, with a rejection. */
  message: z.string().max(10_000).optional(),
})

export const SetToolTrust = z.strictObject({ type: z.literal('setToolTrust'), ...Trust.shape })
export const RevokeToolTrust = z.strictObject({
  type: z.literal('revokeToolTrust'),
  /** A tool's name, or `all`. */
  tool: z.string().min(1).max(200),
})

export const Abort = z.strictObject({ type: z.literal('abort') })
export const Continue = z.strictObject({ type: z.literal('continue') })
export const EnterPlan = z.strictObject({ type: z.literal('enterPlan') })
export const EnterExec = z.strictObject({
  type: z.literal('enterExec'),
  /** Pins the last answer, so that the plan stays before the model. */
  keepPlan: z.boolean().optional(),
})

/** Where turns stop by themselves from now on; what is left out has no limit any more. */
export const SetBudgets = z.strictObject({ type: z.literal('setBudgets'), budgets: z.strictObject(Budgets.shape) })

/** Takes the driver's seat, if it is vacant. */
export const ClaimDriver = z.strictObject({ type: z.literal('claimDriver') })
/** Gives the driver's seat to another who is attached. */
export const HandOver = z.strictObject({ type: z.literal('handOver'), client: ClientId })

/** What a client asks for: imperative, named as the method of `Session` that sends it; may be refused. */
export const Command = z.discriminatedUnion('type', [
  SendPrompt,
  QueueSteering,
  QueueFollowUp,
  RecallQueues,
  ClearQueues,
  DequeueSteering,
  EditQueueEntry,
  RemoveQueueEntry,
  ReorderQueue,
  RespondToApproval,
  SetToolTrust,
  RevokeToolTrust,
  Abort,
  Continue,
  EnterPlan,
  EnterExec,
  ...modelCommands,
  SetBudgets,
  ClaimDriver,
  HandOver,
  AppendClientEvent,
  ...catalogueCommands,
  ...historyCommands,
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

/** What is said to whoever sends something that is no command. A name that nobody knows has a code of its own. */
export function commandFault(sent: unknown, error: z.ZodError): Fault {
  const issues = error.issues.slice(0, 10).map(locateIssue)
  const level = fieldOf(sent, 'setThinkingLevel', 'level')
  if (level !== null) {
    const known = ThinkingLevel.options
    return fault('unknown_level', `There is no thinking level ${level}. There are: ${known.join(', ')}.`, { known })
  }
  const model = fieldOf(sent, 'setModel', 'model')
  if (model !== null) return fault('unknown_model', `There is no model ${model}: a model is named provider/model.`)
  return fault('bad_request', `That is no command: ${explainIssue(error)}.`, { issues })
}

/** The text that a command of this type gave for its only field, if it gave that and nothing else. */
function fieldOf(sent: unknown, type: string, field: string): string | null {
  if (typeof sent !== 'object' || sent === null) return null
  const { type: given, [field]: value, ...rest } = sent as Readonly<Record<string, unknown>> // any object has fields
  if (given !== type || typeof value !== 'string' || Object.keys(rest).length > 0) return null
  return escapeLine(clip(value, 100))
}
