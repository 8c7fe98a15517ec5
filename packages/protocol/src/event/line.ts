import { z } from 'zod'
import { Seq, TurnNumber } from '../id.ts'
import { Line } from '../line.ts'

/** The session stands on another line now. Branch, switch, rewind and set-history are all this one event. */
export const LineMoved = z.object({
  type: z.literal('line.moved'),
  to: Line,
  /** How many turns the new line holds, so that counting goes on without reading it. */
  turns: TurnNumber,
  why: z.enum(['branch', 'switch', 'rewind', 'history']),
})

/** A compaction: before `keepFrom` the model is told the summary and nothing else. The transcript stays whole. */
export const CheckpointWritten = z.object({
  type: z.literal('checkpoint.written'),
  turn: TurnNumber,
  summary: z.string(),
  keepFrom: Seq,
  tokensBefore: z.int().min(0),
  tokensAfter: z.int().min(0),
})

/** Something for people, never sent to the model. */
export const NoteAdded = z.object({
  type: z.literal('note.added'),
  turn: TurnNumber,
  kind: z.enum(['system', 'notice']),
  level: z.enum(['info', 'error']),
  code: z.string().optional(),
  text: z.string(),
})
