import { z } from 'zod'
import { Content } from '../value/content.ts'
import { EntryId, StepId, TurnNumber } from '../value/id.ts'
import { ModelName, ThinkingLevel } from '../value/settings.ts'
import { Usage } from '../value/usage.ts'

/** Why a model call failed, by type and status code, never by words. */
export const ErrorKind = z.enum([
  'rejected_key',
  'rate_limited',
  'auth_failed',
  'unreachable',
  'raw_dump',
  'passthrough',
])
export type ErrorKind = z.infer<typeof ErrorKind>

/** What people are told of a failed model call; `detail` is for whoever reads the log. */
export const ModelFault = z.object({ kind: ErrorKind, message: z.string(), detail: z.string().optional() })
export type ModelFault = z.infer<typeof ModelFault>

export const Queue = z.enum(['steering', 'follow_up'])
export type Queue = z.infer<typeof Queue>

export const PromptQueued = z.object({ type: z.literal('prompt.queued'), queue: Queue, content: Content })

export const UserSaid = z.object({
  type: z.literal('user.said'),
  turn: TurnNumber,
  content: Content,
  /** The queue entry that became this message, if it waited in one. */
  entry: EntryId.optional(),
})

export const TurnStarted = z.object({
  type: z.literal('turn.started'),
  turn: TurnNumber,
  cause: z.enum(['prompt', 'follow_up', 'continue', 'seed']),
})

export const TurnEnd = z.enum(['done', 'aborted', 'failed', 'interrupted', 'limit'])
export type TurnEnd = z.infer<typeof TurnEnd>

export const TurnEnded = z.object({
  type: z.literal('turn.ended'),
  turn: TurnNumber,
  reason: TurnEnd,
  fault: ModelFault.optional(),
  /** How long the line is here, so that a branch from this turn is found without counting. */
  messages: z.int().min(0).optional(),
  tokens: z.int().min(0).optional(),
})

/** One model call is about to be made. Intent before effect: this is durable before the provider hears of it. */
export const StepStarted = z.object({
  type: z.literal('step.started'),
  turn: TurnNumber,
  model: ModelName,
  thinkingLevel: ThinkingLevel,
  attempt: z.int().min(1),
})

/** Opaque to us and sent back byte for byte: a signature, an encrypted block, a reasoning id. */
const ProviderMeta = z.record(z.string(), z.unknown())

const said = {
  turn: TurnNumber,
  step: StepId,
  text: z.string(),
  /** Who wrote it: thinking of one provider is never sent to another. */
  provider: z.string(),
  meta: ProviderMeta.optional(),
  interrupted: z.literal(true).optional(),
}

export const ThinkingSaid = z.object({ type: z.literal('thinking.said'), ...said })
export const TextSaid = z.object({ type: z.literal('text.said'), ...said })

export const CallRequested = z.object({
  type: z.literal('call.requested'),
  turn: TurnNumber,
  step: StepId,
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  provider: z.string(),
  meta: ProviderMeta.optional(),
  /** What the program that leads the conversation calls it. It is no work of the session: its result comes when it comes. */
  givenId: z.string().optional(),
  /** Why the arguments cannot be used; the call is then answered with this and never run. */
  malformed: z.string().optional(),
})

export const Finish = z.enum(['stop', 'calls', 'length', 'refused', 'failed', 'aborted', 'interrupted'])
export type Finish = z.infer<typeof Finish>

export const StepEnded = z.object({
  type: z.literal('step.ended'),
  turn: TurnNumber,
  step: StepId,
  finish: Finish,
  /** Null when the provider did not say what the call used, or the call ended before it could. */
  usage: Usage.nullable(),
  /** About what it used, where the provider did not say: budgets count it, and no sum shows it. */
  estimate: Usage.optional(),
  fault: ModelFault.optional(),
  /** The model could not take the call; this one answers in its place for the rest of the turn. */
  fallback: ModelName.optional(),
})
