import { z } from 'zod'
import { CallId, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { Output } from './call.ts'

/** The kind of a subagent: the name of its file without `.md`, or `general`. */
export const AgentName = z.string().min(1).max(limits.agentNameCharsMax)

/** How the work of a subagent ended. */
export const ChildOutcome = z.enum(['completed', 'failed', 'aborted', 'interrupted', 'over_budget'])
export type ChildOutcome = z.infer<typeof ChildOutcome>

/** What a session knows of itself if it is a subagent. */
export const Subagent = z.object({
  /** The session at the top of the tree, which a person started. */
  root: SessionId,
  /** The call of the parent that started it. */
  call: CallId,
  /** Its kind. */
  agent: AgentName,
  /** 1 for a subagent of a session that a person started. */
  depth: z.int().min(1).max(limits.subagentDepthMax),
})
export type Subagent = z.infer<typeof Subagent>

/** The subagent whose result a prompt is. */
export const ChildResult = z.object({
  /** The session of the subagent. */
  session: SessionId,
  /** Its kind. */
  agent: AgentName,
  /** How its work ended. */
  status: ChildOutcome,
})
export type ChildResult = z.infer<typeof ChildResult>

export const childEvents = [
  /** A call is about to start a subagent. This is durable before the session of the subagent exists. */
  z.object({
    type: z.literal('child.started'),
    /** The call that starts it. */
    call: CallId,
    /** The session of the subagent. */
    child: SessionId,
    /** Its kind. */
    agent: AgentName,
    /** The beginning of its task. */
    task: z.string().max(limits.taskPreviewCharsMax),
    /** The call does not wait for it: its result comes as a follow-up. */
    background: z.literal(true).optional(),
  }),
  /** The result of a subagent was delivered, once: as the result of its call, or as a follow-up. */
  z.object({
    type: z.literal('child.ended'),
    /** The call that started it. */
    call: CallId,
    /** The session of the subagent. */
    child: SessionId,
    /** How its work ended. */
    status: ChildOutcome,
    /** What it said last, if its call did not wait for it. The rest of a long text is a blob. */
    output: Output.optional(),
  }),
] as const
