import { z } from 'zod'
import { ChildOutcome } from '../event/child.ts'
import { Boundary } from '../value/boundary.ts'
import { CallId, Handle, Instant, SessionId } from '../value/id.ts'
import { ApprovalRule, Budgets, Mode, ModelName, Permission, ThinkingLevel } from '../value/settings.ts'
import { ActiveSkill } from '../value/skill.ts'
import { Usage } from '../value/usage.ts'
import { PendingApproval } from './view.ts'

/** A subagent, as the clients of its parent and of all sessions above it show it. */
export const ChildView = z.object({
  /** Its session. Open it for the transcript. */
  id: SessionId,
  /** The short name of its session. */
  handle: Handle,
  /** The session whose call started it: the one that is followed, or another subagent of it. */
  parent: SessionId,
  /** The call that started it. */
  call: CallId,
  /** 1 for a subagent of a session that a person started. */
  depth: z.int().min(1),
  /** Its kind; `general` if its call named none. */
  agent: z.string(),
  /** The beginning of its task. */
  task: z.string(),
  /** Set if its call did not wait for it. */
  background: z.literal(true).optional(),
  /** The model in use. */
  model: ModelName,
  /** `waiting`: at least one of its calls waits for an approval. Then how its work ended. */
  status: z.enum(['running', 'waiting', ...ChildOutcome.options]),
  /** The tool that runs or waits now; null if none does. */
  tool: z.string().nullable(),
  /** Usage of its own model calls. */
  usage: Usage,
  /** Its calls that wait for an answer. Answer with `respondToApproval` and its id as `child`. */
  pendingApprovals: z.array(PendingApproval),
  /** When it was started. */
  startedAt: Instant,
})
export type ChildView = z.infer<typeof ChildView>

/** Returns the subagents with one of them added or replaced, oldest first. */
export const withChild = (children: readonly ChildView[] = [], child: ChildView): ChildView[] =>
  children.some(({ id }) => id === child.id)
    ? children.map((one) => (one.id === child.id ? child : one))
    : [...children, child]

/** What a subagent of a session would inherit if it started now. */
export const SubagentContext = z.object({
  /** The session at the top of the tree. */
  root: SessionId,
  /** The depth of the new subagent. */
  depth: z.int().min(1),
  /** Why none can start now; null if one can. */
  refusal: z.string().nullable(),
  /** The folder it works in. */
  workdir: z.string(),
  /** The model it uses, unless its call or its kind names another. */
  model: ModelName,
  /** How much the model thinks. */
  thinkingLevel: ThinkingLevel,
  /** `plan` denies tools that change something. */
  mode: Mode,
  /** The skills it follows. */
  skills: z.array(ActiveSkill),
  /** The lines that tools may change, by file. */
  boundaries: z.array(Boundary),
  /** Which calls need approval when no permission applies. */
  approvals: ApprovalRule,
  /** The rules of the session. */
  permissions: z.array(Permission),
  /** The only tools it is offered; null for all. */
  tools: z.array(z.string()).nullable(),
  /** Whether it is offered only read-only tools. */
  readOnly: z.boolean(),
  /** The remaining budgets of the tree. */
  budgets: Budgets,
  /** How many subagents of the tree run now. */
  running: z.int().min(0),
  /** How many may run at the same time. */
  runningMax: z.int(),
  /** How many were started for the session at the top of the tree. */
  started: z.int().min(0),
  /** How many may be started for it. */
  startedMax: z.int(),
})
export type SubagentContext = z.infer<typeof SubagentContext>

/** All subagents of a session and of its subagents, oldest first. */
export const ChildList = z.object({ subagents: z.array(ChildView) })
