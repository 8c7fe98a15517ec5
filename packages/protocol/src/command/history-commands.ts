import { z } from 'zod'
import { expecting } from '../text/explain.ts'
import { BranchName, MessageId, Seq, TurnNumber } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { SeedMessages } from '../value/seed.ts'

/** Keeps the line so far as a named branch, and stands at the end of that turn. */
export const BranchAt = z.strictObject({ type: z.literal('branchAt'), turn: TurnNumber })
/** Takes up a branch, by its name or its place in the list; the line that is left is kept. */
export const SwitchBranch = z.strictObject({
  type: z.literal('switchBranch'),
  branch: z.union([BranchName, z.int().min(0)], expecting("a branch's name, or its place in the list")),
})
/** Stands at the end of that turn again; what came after is kept as a branch. */
export const Rewind = z.strictObject({ type: z.literal('rewind'), turn: TurnNumber })
/** A new session that shares the past of this one, up to the end of that turn; of the last that ended when absent. */
export const ForkCommand = z.strictObject({ type: z.literal('fork'), at: TurnNumber.optional() })

export const TogglePin = z.strictObject({ type: z.literal('togglePin'), message: MessageId })
export const ToggleToolCollapse = z.strictObject({ type: z.literal('toggleToolCollapse'), message: MessageId })
/** Any folded: all open. None: all fold. */
export const ToggleAllToolCollapses = z.strictObject({ type: z.literal('toggleAllToolCollapses') })
/** Adds messages from elsewhere to the line, without prompting. */
export const SeedMessagesCommand = z.strictObject({
  type: z.literal('seedMessages'),
  messages: SeedMessages.min(1),
})
/** For people, never sent to the model. */
export const AddSystemMessage = z.strictObject({
  type: z.literal('addSystemMessage'),
  text: z.string(expecting('what to show')).max(limits.promptBytesMax),
  level: z.enum(['info', 'error'], expecting('info or error')).default('info'),
})

/** Tells the model a summary in place of what is long past. */
export const Compact = z.strictObject({ type: z.literal('compact') })
export const UndoCompaction = z.strictObject({ type: z.literal('undoCompaction') })
/** A checkpoint made by the caller: from here on the model is told these messages, and what follows. */
export const AppendCheckpoint = z.strictObject({
  type: z.literal('appendCheckpoint'),
  messages: SeedMessages.min(1),
  /** How many tokens they are; estimated when absent. */
  tokenCount: z.int().min(0).max(100_000_000).optional(),
})
/** Writes what was decided, done and left open to a file of the workdir. */
export const Summarize = z.strictObject({ type: z.literal('summarize') })
/** What the model is told before the messages it still sees. */
export const SetSummary = z.strictObject({
  type: z.literal('setSummary'),
  summary: z.string(expecting('the summary')).max(limits.promptBytesMax),
})
/** Shows the last messages only, or what lies from a record on; the whole line is kept as a branch. */
export const TruncateHistory = z
  .strictObject({
    type: z.literal('truncateHistory'),
    keepLast: z.int(expecting('how many messages to keep')).min(0).optional(),
    from: Seq.optional(),
  })
  .refine(({ keepLast, from }) => (keepLast === undefined) !== (from === undefined), {
    error: 'say either how many messages to keep or from which record on',
  })
/** Replaces the line by these messages; the line that was is kept as a branch. */
export const SetHistory = z.strictObject({ type: z.literal('setHistory'), messages: SeedMessages })

/** What changes the past: which line the session stands on, what is marked on it, what the model is told of it. */
export const historyCommands = [
  BranchAt,
  SwitchBranch,
  Rewind,
  ForkCommand,
  TogglePin,
  ToggleToolCollapse,
  ToggleAllToolCollapses,
  SeedMessagesCommand,
  AddSystemMessage,
  Compact,
  UndoCompaction,
  AppendCheckpoint,
  Summarize,
  SetSummary,
  TruncateHistory,
  SetHistory,
] as const
export type HistoryCommand = z.infer<(typeof historyCommands)[number]>
