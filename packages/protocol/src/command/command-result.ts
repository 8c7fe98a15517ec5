import { z } from 'zod'
import { RefusedFile, RestoredName } from '../event/file-change.ts'
import { QueueEntry } from '../event/queue.ts'
import { Queue } from '../event/turn.ts'
import { Boundary } from '../value/boundary.ts'
import { BranchName, SessionId } from '../value/id.ts'
import { CycledModel } from '../value/model.ts'
import { Permission, ThinkingLevel } from '../value/settings.ts'
import type { Answer, CommandType } from './command.ts'

const nothing = z.object({})
const prompted = z.object({
  /** Present if the prompt waits in a queue; absent if it started a turn. */
  queued: Queue.optional(),
  /** Present if the prompt was a built-in slash command, which has run: its name. There is no turn. */
  ran: z.string().optional(),
})
/** The removed prompts. */
const removed = z.object({ entries: z.array(QueueEntry).default([]) })
const level = z.object({ thinkingLevel: ThinkingLevel })
/** The branch that holds the messages from before the command, or that was switched to. */
const branched = z.object({ branch: BranchName })
/** Absent if all messages were kept. */
const truncated = branched.partial()
const compacted = z.object({ summary: z.string(), tokensBefore: z.int().min(0), tokensAfter: z.int().min(0) })

/** The fields of each command's result besides `seq`. */
const commandResults = {
  sendPrompt: prompted,
  queueSteering: prompted,
  queueFollowUp: prompted,
  recallQueues: removed,
  clearQueues: nothing,
  dequeueSteering: removed,
  editQueueEntry: nothing,
  removeQueueEntry: removed,
  reorderQueue: nothing,
  respondToApproval: z.object({
    /** The rule that `approve_always` has stored for the workspace. */
    rule: Permission.optional(),
  }),
  setToolTrust: nothing,
  revokeToolTrust: nothing,
  abort: nothing,
  stopBackgroundShell: nothing,
  continue: nothing,
  enterPlan: nothing,
  enterExec: nothing,
  setModel: nothing,
  cycleModel: CycledModel,
  setThinkingLevel: level,
  cycleThinkingLevel: level,
  refreshCredentials: nothing,
  setBudgets: nothing,
  setApprovals: nothing,
  claimDriver: nothing,
  handOver: nothing,
  appendClientEvent: nothing,
  pinSession: z.object({ pinned: z.boolean() }),
  rename: z.object({ title: z.string() }),
  moveWorkdir: z.object({ workdir: z.string() }),
  /** The boundary as it is kept: with the real path of the file in the workdir. */
  setBoundary: Boundary,
  clearBoundary: nothing,
  clearAllBoundaries: nothing,
  activateSkill: nothing,
  deactivateSkill: nothing,
  setServer: nothing,
  retryServer: nothing,
  branchAt: branched,
  switchBranch: branched,
  rewind: branched,
  /** The files that were put back, and those that were not. */
  restoreFiles: z.object({ restored: z.array(RestoredName).default([]), refused: z.array(RefusedFile).default([]) }),
  /** The id of the new session. */
  fork: z.object({ session: SessionId }),
  togglePin: z.object({ pinned: z.boolean() }),
  toggleToolCollapse: z.object({ collapsed: z.boolean() }),
  toggleAllToolCollapses: z.object({ collapsed: z.boolean() }),
  seedMessages: nothing,
  addSystemMessage: nothing,
  compact: compacted,
  /** The estimated tokens of the context. */
  undoCompaction: z.object({ tokens: z.int().min(0) }),
  appendCheckpoint: compacted,
  summarize: z.object({ text: z.string(), path: z.string() }),
  setSummary: compacted,
  truncateHistory: truncated,
  setHistory: branched,
} as const satisfies Readonly<Record<CommandType, z.ZodObject>>

/** The result of a command: `seq` of its first record, or the current seq if it wrote none, and its own fields. */
export type CommandResult<Type extends CommandType = CommandType> = {
  /** The seq of the command's first record. */
  readonly seq: number
} & (string extends keyof z.infer<(typeof commandResults)[Type]> // A schema without fields has an index signature, which would forbid `seq`.
  ? unknown
  : Readonly<z.infer<(typeof commandResults)[Type]>>)

/** Returns the typed result of a command. `unchanged` has the fields that an answer omits if the command changed nothing. */
export function commandResult<Type extends CommandType>(
  type: Type,
  { seq, result }: Answer,
  unchanged: object = {},
): CommandResult<Type> {
  const fields = commandResults[type].parse({ ...unchanged, ...result })
  return { seq, ...fields } as CommandResult<Type> // the schema is the one of this type
}

/** The names of the fields of a command's result, for tests of the answers. */
export const resultFields = (type: CommandType): readonly string[] => Object.keys(commandResults[type].shape)
