import { z } from 'zod'
import { BranchName, MessageId, Seq, SessionId, TurnNumber } from '../value/id.ts'
import { Line } from '../value/line.ts'
import { ModelName } from '../value/settings.ts'
import { Usage } from '../value/usage.ts'
import { TurnEnd } from './turn.ts'

/** Length of a line, known without reading it. */
export const LineLength = z.object({
  turns: TurnNumber,
  messages: z.int().min(0),
  /** Estimated tokens of its context. */
  tokens: z.int().min(0),
  /** How its last turn ended; an interrupted turn can be continued. */
  last: z.object({ turn: TurnNumber, reason: TurnEnd }).nullable(),
})
export type LineLength = z.infer<typeof LineLength>

/** The facts of a checkpoint that the session state holds. */
export const CheckpointMark = z.object({
  seq: Seq,
  keepFrom: Seq,
  tokensBefore: z.int().min(0),
  tokensAfter: z.int().min(0),
  /** Tokens of the summary alone. */
  summaryTokens: z.int().min(0),
  /** The prompt that is kept verbatim, if any. */
  prompt: MessageId.optional(),
})
export type CheckpointMark = z.infer<typeof CheckpointMark>

export const historyEvents = [
  /** A note for people. The model gets it only if `told` is set. */
  z.object({
    type: z.literal('note.added'),
    turn: TurnNumber,
    kind: z.enum(['system', 'notice']),
    level: z.enum(['info', 'error']),
    code: z.string().optional(),
    text: z.string(),
    /** Set for system messages of an embedding program, and for news of commands in the background; the model gets them. */
    told: z.literal(true).optional(),
  }),
  /** The session moved to another line. Branch, switch, rewind, set-history and truncate all record this event. */
  z.object({
    type: z.literal('line.moved'),
    to: Line,
    ...LineLength.shape,
    /** The active checkpoint on the new line. */
    checkpoint: Seq.nullable(),
    /** The branch that saves the old line. */
    keep: z.object({
      name: BranchName,
      turns: TurnNumber,
      messages: z.int().min(0),
      /** Saved by setHistory or truncateHistory; the oldest of these are dropped first. */
      hidden: z.literal(true).optional(),
    }),
    /** The branch switched to; null for a new line without a name. */
    name: BranchName.nullable(),
    why: z.enum(['branch', 'switch', 'rewind', 'history']),
    /** The text of the new line that lists show. Records of earlier versions lack it. */
    shown: z
      .object({
        /** The first line of its first prompt; absent if it is the same as before. */
        preview: z.string().optional(),
        /** The newest prompts and answers, oldest first. */
        recent: z.array(z.string()),
      })
      .optional(),
  }),
  /** A compaction: the model gets the summary instead of everything before `keepFrom`. The transcript does not change. */
  z.object({
    type: z.literal('checkpoint.written'),
    turn: TurnNumber,
    summary: z.string(),
    keepFrom: Seq,
    /** The running turn's prompt if it is before `keepFrom`; the model still gets it verbatim. */
    prompt: MessageId.optional(),
    tokensBefore: z.int().min(0),
    tokensAfter: z.int().min(0),
    why: z.enum(['automatic', 'asked', 'made']),
    /** Usage of writing the summary; null when unknown, absent when no model wrote it. */
    usage: Usage.nullable().optional(),
    /** The model that wrote it. */
    model: ModelName.optional(),
  }),
  /** A checkpoint was undone: the model gets the messages it replaced. */
  z.object({
    type: z.literal('checkpoint.undone'),
    checkpoint: Seq,
    /** The checkpoint that is active again, if any. */
    holds: Seq.nullable(),
    tokens: z.int().min(0),
  }),
  /** A summary of the session was written to a file in the working directory. */
  z.object({
    type: z.literal('summary.saved'),
    turn: TurnNumber,
    path: z.string(),
    text: z.string(),
    usage: Usage.nullable(),
    /** The model that wrote it; the session's model when absent. */
    model: ModelName.optional(),
  }),
  /** A fork shares the history of this session up to `base`. */
  z.object({ type: z.literal('session.forked'), fork: SessionId, base: Seq, line: Line }),
  /**
   * A message exactly as an embedding program gave it, to return it unchanged. Its content is null here if it is a text: then
   * it is in the first of the next `records` that has text. It is false if the program gave null.
   */
  z.object({
    type: z.literal('message.given'),
    turn: TurnNumber,
    message: z.record(z.string(), z.json()),
    records: z.int().min(0),
  }),
  /** A message was pinned to the model's context, or unpinned. */
  z.object({
    type: z.literal('message.pinned'),
    message: MessageId,
    pinned: z.boolean(),
    /** Estimated tokens; pins may fill only a part of the context. */
    tokens: z.int().min(0).optional(),
  }),
  /** A tool call was collapsed or opened on screens; all of them when `message` is null. */
  z.object({
    type: z.literal('message.collapsed'),
    message: MessageId.nullable(),
    collapsed: z.boolean(),
  }),
] as const
