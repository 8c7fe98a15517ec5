import { z } from 'zod'
import { AnsweredVia } from '../event/call.ts'
import { clip } from '../event/text-of.ts'
import { Trust } from '../event/trust.ts'
import { Queue } from '../event/turn.ts'
import { expecting, explainIssue, locateIssue } from '../text/explain.ts'
import { escapeLine } from '../text/hostile-text.ts'
import { didYouMean } from '../text/nearest.ts'
import { hasUnpairedSurrogate } from '../text/unpaired-surrogate.ts'
import { Content } from '../value/content.ts'
import type { Fault } from '../value/fault.ts'
import { fault } from '../value/fault.ts'
import { ApprovalId, ClientId, type CommandId, EntryId, SessionId, ShellId, TurnNumber } from '../value/id.ts'
import { findJsonExcess } from '../value/json.ts'
import { limits } from '../value/limits.ts'
import { Answers } from '../value/question.ts'
import { ok, type Result, refuse } from '../value/result.ts'
import { ApprovalRule, Budgets, ThinkingLevel } from '../value/settings.ts'
import { historyCommands } from './history-commands.ts'
import {
  AppendClientEvent,
  boundaryCommands,
  catalogueCommands,
  modelCommands,
  serverCommands,
  skillCommands,
} from './settings-commands.ts'

/** The parts of a longer list are not checked one by one. Prompts have a lower limit: `promptPartsMax`. */
const partsCheckedMax = 1000

/** Accepts a plain string; it becomes a list with one text part. */
const PromptContent = z.union(
  [z.string().transform((text): Content => [{ type: 'text', text }]), Content.max(partsCheckedMax)],
  expecting('the prompt, as a text or a list of parts'),
)

/** The answer to an approval: once, for longer, or no. `cancel` is only for questions: the person makes no choice. */
export const Decision = z.enum(
  ['approve', 'approve_turn', 'approve_session', 'approve_always', 'reject', 'cancel'],
  expecting('approve, approve_turn, approve_session, approve_always, reject or cancel'),
)
export type Decision = z.infer<typeof Decision>

/** A request from a client, named after the method of `Session` that sends it. It may be refused. */
export const Command = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('sendPrompt'), content: PromptContent }),
  /** Joins the running turn at the next safe point. Without a running turn it is a prompt. */
  z.strictObject({ type: z.literal('queueSteering'), content: PromptContent }),
  /** Becomes the next turn when this one ends. Without a running turn it is a prompt. */
  z.strictObject({ type: z.literal('queueFollowUp'), content: PromptContent }),
  /** Removes all queued prompts and returns them, to be edited again. */
  z.strictObject({ type: z.literal('recallQueues') }),
  z.strictObject({ type: z.literal('clearQueues') }),
  z.strictObject({ type: z.literal('dequeueSteering') }),
  z.strictObject({
    type: z.literal('editQueueEntry'),
    entry: EntryId,
    content: PromptContent,
  }),
  z.strictObject({ type: z.literal('removeQueueEntry'), entry: EntryId }),
  z.strictObject({
    type: z.literal('reorderQueue'),
    queue: Queue,
    entries: z.array(EntryId).min(1).max(limits.promptsQueuedMax),
  }),
  z.strictObject({
    type: z.literal('respondToApproval'),
    decision: Decision,
    /** The oldest pending approval when absent. */
    approval: ApprovalId.optional(),
    /** The subagent whose call waits. When absent, the session's own approvals come first, then those of its subagents. */
    child: SessionId.optional(),
    /** Tells the model why the call was rejected. */
    message: z.string().max(10_000).optional(),
    /** The answer to a question, by the names of its fields. Fields that are left out get their defaults. */
    answers: Answers.optional(),
    /** What answers in place of a person, such as `--yes`. The record then names it. */
    via: AnsweredVia.optional(),
  }),
  z.strictObject({ type: z.literal('setToolTrust'), ...Trust.shape }),
  z.strictObject({
    type: z.literal('revokeToolTrust'),
    /** A tool's name, or `all`. */
    tool: z.string().min(1).max(200),
  }),
  z.strictObject({
    type: z.literal('abort'),
    /** Only this turn: nothing happens if it has ended, or if another one runs. */
    turn: TurnNumber.optional(),
  }),
  /** Ends a command that runs in the background, with all its processes. It is not recorded. */
  z.strictObject({ type: z.literal('stopBackgroundShell'), shell: ShellId }),
  z.strictObject({ type: z.literal('continue') }),
  z.strictObject({ type: z.literal('enterPlan') }),
  z.strictObject({
    type: z.literal('enterExec'),
    /** Pins the last answer, so that the plan stays in the model's context. */
    keepPlan: z.boolean().optional(),
  }),
  ...modelCommands,
  /** Replaces the budgets at which turns stop. A budget left out has no limit. */
  z.strictObject({ type: z.literal('setBudgets'), budgets: z.strictObject(Budgets.shape) }),
  /** Sets which calls ask for an approval. A call that waits already still waits. */
  z.strictObject({ type: z.literal('setApprovals'), approvals: ApprovalRule }),
  /** Becomes the driver, if there is none. */
  z.strictObject({
    type: z.literal('claimDriver'),
    /** Also takes control from another client of the same person; from anyone with an admin token. */
    takeOver: z.boolean().optional(),
  }),
  /** Makes another attached client the driver. */
  z.strictObject({ type: z.literal('handOver'), client: ClientId }),
  AppendClientEvent,
  ...catalogueCommands,
  ...boundaryCommands,
  ...skillCommands,
  ...serverCommands,
  ...historyCommands,
])
export type Command = z.infer<typeof Command>
/** A command as a client writes it, before defaults are filled in. */
export type CommandInput = z.input<typeof Command>
/** The names of all commands. */
export type CommandType = Command['type']

export const commandTypes: readonly CommandType[] = Command.options.map((option) => option.shape.type.value)

/** Returns the error message for an unknown command name. */
export const unknownCommand = (name: string): string =>
  `There is no command ${escapeLine(clip(name, 100))}.${didYouMean(name, commandTypes) || ` Known commands: ${commandTypes.join(', ')}.`}`

/** A command with its client and the id that makes retries safe. */
export type Submission = {
  /** The id that makes a retry safe. */
  readonly commandId: CommandId
  /** The client that sent it, or null. */
  readonly by: ClientId | null
  /** The command. */
  readonly command: Command
  /** The sender's token may drive, so it may abort without a seat. */
  readonly mayDrive?: true | undefined
  /** The sender must be attached: it is refused once its attachment is gone. */
  readonly needsSeat?: true | undefined
  /** The token or login that sent it. It is refused if another one attached the client meanwhile. */
  readonly person?: string | undefined
  /** The sender may command a session above this subagent, so no seat of the subagent is needed. */
  readonly isFromAbove?: true | undefined
}

/** The answer to a command. `seq` is the first record it wrote, or the current seq if it wrote none. */
export const Answer = z.object({
  /** The seq of the command's first record, or of the head if it changed nothing. */
  seq: z.int().min(0),
  /** The fields of the command's result. */
  result: z.record(z.string(), z.unknown()),
})
export type Answer = z.infer<typeof Answer>

/** Returns the fault for a value that is not a valid command. Unknown models and thinking levels have their own codes. */
export function commandFault(sent: unknown, error: z.ZodError): Fault {
  const issues = error.issues.slice(0, 10).map(locateIssue)
  const level = fieldOf(sent, 'setThinkingLevel', 'level')
  if (level !== null) {
    const known = ThinkingLevel.options
    return fault('unknown_level', `There is no thinking level ${level}. There are: ${known.join(', ')}.`, { known })
  }
  const model = fieldOf(sent, 'setModel', 'model')
  if (model !== null) return fault('unknown_model', `There is no model ${model}. A model is named provider/model.`)
  const unknown = error.issues.find((issue) => issue.code === 'unrecognized_keys' && issue.path.length === 0)
  const message = unknown?.code === 'unrecognized_keys' ? unknownField(sent, unknown.keys[0] ?? '') : null
  return fault('bad_request', message ?? `Invalid command: ${explainIssue(error)}.`, { issues })
}

/** Parses a command, the same way in this process and before it is sent to a server. */
export function parseCommand(sent: unknown): Result<Command> {
  const excess = findJsonExcess(sent)
  if (excess !== null) return refuse(fault('bad_request', `Invalid command: ${excess}.`))
  const command = Command.safeParse(sent)
  if (!command.success) return refuse(commandFault(sent, command.error))
  if (!hasUnpairedSurrogate(command.data)) return ok(command.data)
  return refuse(fault('bad_request', `Invalid command: a text has an unpaired surrogate.`))
}

/** Returns the error message for a field that the command does not have. */
function unknownField(sent: unknown, field: string): string | null {
  const shape = Command.options.map((option) => option.shape).find(({ type }) => type.value === typeOf(sent))
  if (!shape) return null
  const names = Object.keys(shape).filter((name) => name !== 'type')
  return `${shape.type.value} has no field "${escapeLine(clip(field, 100))}".${didYouMean(field, names)}`
}

const typeOf = (sent: unknown): unknown =>
  typeof sent === 'object' && sent !== null && 'type' in sent ? sent.type : undefined

/** Returns the text of the only field of a command of this type; null if there is anything else. */
function fieldOf(sent: unknown, type: string, field: string): string | null {
  if (typeof sent !== 'object' || sent === null) return null
  const { type: given, [field]: value, ...rest } = sent as Readonly<Record<string, unknown>> // any object has fields
  if (given !== type || typeof value !== 'string' || Object.keys(rest).length > 0) return null
  return escapeLine(clip(value, 100))
}
