import { z } from 'zod'
import { Content } from '../value/content.ts'
import { EntryId, StepId, TurnNumber } from '../value/id.ts'
import { ModelName, ThinkingLevel } from '../value/settings.ts'
import { ActiveSkill } from '../value/skill.ts'
import { Payer, Usage } from '../value/usage.ts'
import { ChildResult } from './child.ts'

/** Why a model call failed, judged by error type and status code, never by message text. */
export const ErrorKind = z.enum([
  'rejected_key',
  'rate_limited',
  'auth_failed',
  'unreachable',
  'raw_dump',
  'passthrough',
])
export type ErrorKind = z.infer<typeof ErrorKind>

/** A failed model call: `message` is for people, `detail` for the log. */
export const ModelFault = z.object({ kind: ErrorKind, message: z.string(), detail: z.string().optional() })
export type ModelFault = z.infer<typeof ModelFault>

/** The queues of prompts: `steering` joins the running turn, `follow_up` waits for its end. */
export const Queue = z.enum(['steering', 'follow_up'])
export type Queue = z.infer<typeof Queue>

/** Where a prompt comes from, if not from a person's words, and what hooks added to it. */
export const TypedPrompt = z.object({
  /** The slash command as it was typed; `content` is what it became. */
  typed: z.string().optional(),
  /** The skill whose text the content has. */
  skill: ActiveSkill.pick({ name: true, hash: true }).optional(),
  /** What hooks added. The model is told it with the prompt. */
  context: z.string().optional(),
  /** The subagent whose result it is; absent for what a person sent. */
  child: ChildResult.optional(),
  /** The token that pays for the turn it starts; absent for the person at this machine. */
  payer: Payer.optional(),
})
export type TypedPrompt = z.infer<typeof TypedPrompt>

/** Why a turn ended. */
export const TurnEnd = z.enum(['done', 'aborted', 'failed', 'interrupted', 'limit'])
export type TurnEnd = z.infer<typeof TurnEnd>

/** Opaque provider data (a signature, an encrypted block), sent back byte for byte. */
const ProviderMeta = z.record(z.string(), z.unknown())

const modelText = {
  turn: TurnNumber,
  step: StepId,
  text: z.string(),
  /** The provider that wrote it. Thinking is never sent to another provider. */
  provider: z.string(),
  meta: ProviderMeta.optional(),
  interrupted: z.literal(true).optional(),
}

/** Why a model call ended. */
export const Finish = z.enum(['stop', 'calls', 'length', 'refused', 'failed', 'aborted', 'interrupted'])
export type Finish = z.infer<typeof Finish>

export const turnEvents = [
  z.object({ type: z.literal('prompt.queued'), queue: Queue, content: Content, ...TypedPrompt.shape }),
  z.object({
    type: z.literal('user.said'),
    turn: TurnNumber,
    content: Content,
    /** The queue entry that became this message, if it was queued. */
    entry: EntryId.optional(),
    /** The slash command as it was typed, if the content comes from one. */
    typed: z.string().optional(),
    /** What hooks added. The model is told it with the prompt. */
    context: z.string().optional(),
    /** The subagent whose result it is; absent for what a person sent. */
    child: ChildResult.optional(),
  }),
  z.object({
    type: z.literal('turn.started'),
    turn: TurnNumber,
    cause: z.enum(['prompt', 'follow_up', 'continue', 'seed']),
    /** The token that pays for its model calls; absent for the person at this machine. */
    payer: Payer.optional(),
  }),
  z.object({
    /** The type of the event. */
    type: z.literal('turn.ended'),
    /** The number of the turn, counted from 0. */
    turn: TurnNumber,
    /** Why it ended. */
    reason: TurnEnd,
    /** Why the model call failed, if it did. */
    fault: ModelFault.optional(),
    /** Length of the line here, so that branching from this turn needs no counting. */
    messages: z.int().min(0).optional(),
    /** The estimated tokens of the line here. */
    tokens: z.int().min(0).optional(),
  }),
  /** A model call is about to be made. This is durable before the request is sent. */
  z.object({
    type: z.literal('step.started'),
    turn: TurnNumber,
    model: ModelName,
    thinkingLevel: ThinkingLevel,
    attempt: z.int().min(1),
  }),
  z.object({ type: z.literal('thinking.said'), ...modelText }),
  z.object({ type: z.literal('text.said'), ...modelText }),
  z.object({
    type: z.literal('call.requested'),
    turn: TurnNumber,
    step: StepId,
    tool: z.string(),
    args: z.record(z.string(), z.unknown()),
    provider: z.string(),
    meta: ProviderMeta.optional(),
    /** Call id of an embedding program. The session does not run such a call; the program adds its result. */
    givenId: z.string().optional(),
    /** Why the arguments are invalid. The model gets this as the result, and the call is not run. */
    malformed: z.string().optional(),
  }),
  z.object({
    type: z.literal('step.ended'),
    turn: TurnNumber,
    step: StepId,
    finish: Finish,
    /** Null when the provider reported no usage. */
    usage: Usage.nullable(),
    /** Estimated usage when the provider reported none. Budgets count it; totals do not show it. */
    estimate: Usage.optional(),
    fault: ModelFault.optional(),
    /** The model that takes over for the rest of the turn, after this one failed. */
    fallback: ModelName.optional(),
  }),
] as const
