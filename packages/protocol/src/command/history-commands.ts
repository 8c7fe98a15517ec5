import { z } from 'zod'
import { expecting } from '../text/explain.ts'
import { BranchName, CallId, MessageId, Seq, TurnNumber } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { SeedMessages } from '../value/seed.ts'

const restorePoint = {
  /** As they were at the end of this turn. */
  turn: TurnNumber.optional(),
  /** As they were before this message; 1 is before everything that the session did. */
  message: MessageId.optional(),
  /** As they were before this call, which must be the last that changed them. */
  call: CallId.optional(),
  /** As they were before the last restore. */
  undo: z.literal(true).optional(),
  /** Only these files; all when absent. */
  paths: z
    .array(z.string().min(1).max(limits.toolPathCharsMax), expecting('a list of paths'))
    .max(limits.restoredFilesMax)
    .optional(),
}

const hasOnePoint = ({ turn, message, call, undo }: { [Name in keyof typeof restorePoint]?: unknown }): boolean =>
  [turn, message, call, undo].filter((one) => one !== undefined).length === 1
const onePoint = {
  error: 'give exactly one of turn, message, call and undo; message: 1 means before everything that the session did',
}

/** Which files to restore, and to which point. */
export const RestoreRequest = z.strictObject(restorePoint).refine(hasOnePoint, onePoint)
export type RestoreRequest = z.infer<typeof RestoreRequest>
/** Which files to restore, as a client writes it. */
export type RestoreInput = z.input<typeof RestoreRequest>

/** Commands that change the history, its marks, or what the model gets of it. */
export const historyCommands = [
  /** Goes back to the end of a turn. The current line is saved as a branch. */
  z.strictObject({ type: z.literal('branchAt'), turn: TurnNumber }),
  /** Switches to a branch, by name or list index. The current line is saved as a branch. */
  z.strictObject({
    type: z.literal('switchBranch'),
    branch: z.union([BranchName, z.int().min(0)], expecting("a branch's name, or its index in the list")),
  }),
  /** Goes back to the end of a turn; what came after is saved as a branch. Files stay: see `restoreFiles`. */
  z.strictObject({ type: z.literal('rewind'), turn: TurnNumber }),
  /** Puts files back that calls of this session changed. The messages stay: see `rewind`. */
  z.strictObject({ type: z.literal('restoreFiles'), ...restorePoint }).refine(hasOnePoint, onePoint),
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
    summary: z
      .string(expecting('the summary'))
      .max(limits.promptBytesMax, `a summary has at most ${limits.promptBytesMax} characters`),
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
