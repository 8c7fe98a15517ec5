import { z } from 'zod'
import { BranchName, MessageId, Seq, SessionId, TurnNumber } from '../value/id.ts'
import { Line } from '../value/line.ts'
import { ModelName } from '../value/settings.ts'
import { Usage } from '../value/usage.ts'
import { TurnEnd } from './turn.ts'

/** How long a line is, known without reading it. */
export const LineLength = z.object({
  turns: TurnNumber,
  messages: z.int().min(0),
  /** About how many tokens its window is. */
  tokens: z.int().min(0),
  /** How the last turn on it ended, so that one cut short can be continued. */
  last: z.object({ turn: TurnNumber, reason: TurnEnd }).nullable(),
})
export type LineLength = z.infer<typeof LineLength>

/** The session stands on another line now. Branch, switch, rewind, set-history and truncate are all this one event. */
export const LineMoved = z.object({
  type: z.literal('line.moved'),
  to: Line,
  ...LineLength.shape,
  /** The compaction that holds on it. */
  checkpoint: Seq.nullable(),
  /** The line that was left is kept as a branch of this name: nothing is lost by moving. */
  keep: z.object({
    name: BranchName,
    turns: TurnNumber,
    messages: z.int().min(0),
    /** By a set or cut history: such lines make room for newer ones. */
    hidden: z.literal(true).optional(),
  }),
  /** The branch that was taken up; it is the line now. None for a line that has no name yet. */
  name: BranchName.nullable(),
  why: z.enum(['branch', 'switch', 'rewind', 'history']),
})

/** A compaction: before `keepFrom` the model is told the summary and nothing else. The transcript stays whole. */
export const CheckpointWritten = z.object({
  type: z.literal('checkpoint.written'),
  turn: TurnNumber,
  summary: z.string(),
  keepFrom: Seq,
  /** The prompt of the turn that runs, where it lies before `keepFrom`: it is told as it was said. */
  prompt: MessageId.optional(),
  tokensBefore: z.int().min(0),
  tokensAfter: z.int().min(0),
  why: z.enum(['automatic', 'asked', 'made']),
  /** What writing it used; null when nobody knows, absent when no model wrote it. */
  usage: Usage.nullable().optional(),
  /** The model that wrote it. */
  model: ModelName.optional(),
})

/** What has to be known of a compaction without reading it. */
export const CheckpointMark = z.object({
  seq: Seq,
  keepFrom: Seq,
  tokensBefore: z.int().min(0),
  tokensAfter: z.int().min(0),
  /** How many of those tokens are the summary itself. */
  summaryTokens: z.int().min(0),
  /** The prompt it keeps word for word, if it does. */
  prompt: MessageId.optional(),
})
export type CheckpointMark = z.infer<typeof CheckpointMark>

/** The model is told again what this checkpoint hid. */
export const CheckpointUndone = z.object({
  type: z.literal('checkpoint.undone'),
  checkpoint: Seq,
  /** The one that holds again, if there is one. */
  holds: Seq.nullable(),
  tokens: z.int().min(0),
})

/** What was decided and done so far, written to a file of the workdir for whoever goes on. */
export const SummarySaved = z.object({
  type: z.literal('summary.saved'),
  turn: TurnNumber,
  path: z.string(),
  text: z.string(),
  usage: Usage.nullable(),
  /** The model that wrote it; the session's own when absent. */
  model: ModelName.optional(),
})

/** Another session shares the past of this one, up to `base`. */
export const SessionForked = z.object({ type: z.literal('session.forked'), fork: SessionId, base: Seq, line: Line })

/** Something for people; the model hears of it only where it says so. */
export const NoteAdded = z.object({
  type: z.literal('note.added'),
  turn: TurnNumber,
  kind: z.enum(['system', 'notice']),
  level: z.enum(['info', 'error']),
  code: z.string().optional(),
  text: z.string(),
  /** A system message of a conversation that a program leads: the model is told. */
  told: z.literal(true).optional(),
})

/**
 * A message as its program gave it, for whoever asks for it back. Its content, null here, is in the first of the next
 * `records` that has words: those are what the message means to screens and models.
 */
export const MessageGiven = z.object({
  type: z.literal('message.given'),
  turn: TurnNumber,
  message: z.record(z.string(), z.json()),
  records: z.int().min(0),
})

/** A message kept in the model's context for good, or no longer. */
export const MessagePinned = z.object({
  type: z.literal('message.pinned'),
  message: MessageId,
  pinned: z.boolean(),
  /** About how many tokens it is: pins may fill a part of the context, and no more. */
  tokens: z.int().min(0).optional(),
})

/** A tool call is shown folded, or open; all of them where none is named. Only for screens. */
export const MessageCollapsed = z.object({
  type: z.literal('message.collapsed'),
  message: MessageId.nullable(),
  collapsed: z.boolean(),
})
