import { z } from 'zod'
import { CallId, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { AgentName, ChildOutcome } from '../value/subagent.ts'
import { Output } from './call.ts'

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
