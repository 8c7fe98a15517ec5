import { z } from 'zod'
import { ApprovedBy, Output } from '../event/call.ts'
import { ChildOutcome, ChildResult } from '../event/child.ts'
import { FileChange } from '../event/file-change.ts'
import { HookRun } from '../event/hook.ts'
import { Preview } from '../event/preview.ts'
import { Finish, ModelFault } from '../event/turn.ts'
import { Content } from '../value/content.ts'
import { ApprovalId, CallId, Instant, MessageId, SessionId, StepId, TurnNumber } from '../value/id.ts'
import { Usage } from '../value/usage.ts'

export const CallStatus = z.enum(['waiting', 'running', 'complete', 'error', 'denied', 'interrupted'])
export type CallStatus = z.infer<typeof CallStatus>

/** A file that a call changed, as clients show it. */
export const CallFile = FileChange.pick({ path: true, change: true, from: true, outside: true, during: true })
export type CallFile = z.infer<typeof CallFile>

/** A tool call, as clients show it. */
export const CallView = z.object({
  /** The id of the call. */
  id: CallId,
  /** The name of the tool. */
  tool: z.string(),
  /** The arguments: as the model sent them, or as a hook changed them. */
  args: z.record(z.string(), z.unknown()),
  /** The hook that changed the arguments; absent if none did. */
  rewrittenBy: z.string().optional(),
  /** Where the call is: waiting, running, or how it ended. */
  status: CallStatus,
  /** The output; null while there is none. */
  result: Output.nullable(),
  /** How long it ran; null if it did not run or still runs. */
  durationMs: z.number().nullable(),
  /** The client or the rule that allowed it; null if none did. */
  approvedBy: ApprovedBy.nullable(),
  /** The pending approval, if any. */
  approval: z.object({ id: ApprovalId, preview: Preview }).nullable(),
  /** The diff that was approved or rejected. Absent if nobody was asked, and while the approval is pending. */
  preview: Preview.optional(),
  /** The files that the call changed; absent if it changed none. */
  files: z.array(CallFile).optional(),
  /** The subagent that the call started; absent if it started none. */
  child: z
    .object({
      session: SessionId,
      agent: z.string(),
      task: z.string(),
      background: z.literal(true).optional(),
      /** How its work ended; absent until its result was delivered. */
      outcome: ChildOutcome.optional(),
    })
    .optional(),
})
export type CallView = z.infer<typeof CallView>

const common = {
  id: MessageId,
  /** The previous message on its line. */
  parent: MessageId.nullable(),
  turn: TurnNumber,
  at: Instant,
  pinned: z.boolean(),
  collapsed: z.boolean(),
}
const spoken = { ...common, step: StepId, text: z.string(), interrupted: z.literal(true).optional() }

/** A message of the transcript, folded from events; the same for every screen. */
export const Message = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('user'),
    ...common,
    text: z.string(),
    parts: Content,
    /** A slash command was typed: `text` is that, and `parts` what the model got. */
    isExpanded: z.literal(true).optional(),
    /** The subagent whose result it is; absent for what a person sent. */
    child: ChildResult.optional(),
  }),
  z.object({ kind: z.literal('assistant'), ...spoken }),
  z.object({ kind: z.literal('thinking'), ...spoken }),
  z.object({ kind: z.literal('tool_call'), ...common, step: StepId, call: CallView }),
  z.object({ kind: z.literal('system'), ...common, level: z.enum(['info', 'error']), text: z.string() }),
  z.object({
    kind: z.literal('notice'),
    ...common,
    level: z.enum(['info', 'error']),
    text: z.string(),
    code: z.string().optional(),
    /** The run of a hook that this notice is about. */
    hook: HookRun.optional(),
  }),
  z.object({
    kind: z.literal('usage'),
    ...common,
    step: StepId,
    finish: Finish,
    usage: Usage.nullable(),
    fault: ModelFault.optional(),
  }),
])
export type Message = z.infer<typeof Message>
