import { z } from 'zod'
import { expecting } from '../text/explain.ts'
import { BranchName, MessageId, Seq, TurnNumber } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { SeedMessages } from '../value/seed.ts'

/** Commands that change the history, its marks, or what the model gets of it. */
export const historyCommands = [
  /** Goes back to the end of a turn. The current line is saved as a branch. */
  z.strictObject({ type: z.literal('branchAt'), turn: TurnNumber }),
  /** Switches to a branch, by name or list index. The current line is saved as a branch. */
  z.strictObject({
    type: z.literal('switchBranch'),
    branch: z.union([BranchName, z.int().min(0)], expecting("a branch's name, or its index in the list")),
  }),
  /** Goes back to the end of a turn; what came after is saved as a branch. */
  z.strictObject({ type: z.literal('rewind'), turn: TurnNumber }),
  /** Creates a session that shares the history up to the end of a turn; the last ended turn when absent. */
  z.strictObject({ type: z.literal('fork'), at: TurnNumber.optional() }),
  z.strictObject({ type: z.literal('togglePin'), message: MessageId }),
  z.strictObject({ type: z.literal('toggleToolCollapse'), message: MessageId }),
  /** Opens all tool calls if any is collapsed; otherwise collapses all. */
  z.strictObject({ type: z.literal('toggleAllToolCollapses') }),
  /** Appends messages from elsewhere without starting a turn. */
  z.strictObject({
    type: z.literal('seedMessages'),
    messages: SeedMessages.min(1),
  }),
  /** Adds a message for people; it is never sent to the model. */
  z.strictObject({
    type: z.literal('addSystemMessage'),
    text: z.string(expecting('the text to show')).max(limits.promptBytesMax),
    level: z.enum(['info', 'error'], expecting('info or error')).default('info'),
  }),
  /** Replaces old messages in the model's context by a summary. */
  z.strictObject({ type: z.literal('compact') }),
  z.strictObject({ type: z.literal('undoCompaction') }),
  /** Adds the caller's own checkpoint: the model now gets these messages and what follows. */
  z.strictObject({
    type: z.literal('appendCheckpoint'),
    messages: SeedMessages.min(1),
    /** Token count of the messages; estimated when absent. */
    tokenCount: z.int().min(0).max(100_000_000).optional(),
  }),
  /** Writes a summary of the session to a file in the working directory. */
  z.strictObject({ type: z.literal('summarize') }),
  /** Sets the summary that precedes the messages in the model's context. */
  z.strictObject({
    type: z.literal('setSummary'),
    summary: z.string(expecting('the summary')).max(limits.promptBytesMax),
  }),
  /** Keeps only the last messages, or those from a record on. The whole line is saved as a branch. */
  z
    .strictObject({
      type: z.literal('truncateHistory'),
      keepLast: z.int(expecting('how many messages to keep')).min(0).optional(),
      from: Seq.optional(),
    })
    .refine(({ keepLast, from }) => (keepLast === undefined) !== (from === undefined), {
      error: 'give exactly one of keepLast and from',
    }),
  /** Replaces the history by these messages. The old line is saved as a branch. */
  z.strictObject({ type: z.literal('setHistory'), messages: SeedMessages }),
] as const
export type HistoryCommand = z.infer<(typeof historyCommands)[number]>
