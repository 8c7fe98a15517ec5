import { z } from 'zod'
import type { Recorded } from '../event/event.ts'
import { Preview } from '../event/preview.ts'
import { QueueEntry, queuedEntry, reorderQueue } from '../event/queue.ts'
import { addTrust, Trust } from '../event/trust.ts'
import { ModelFault, TurnEnd } from '../event/turn.ts'
import { addBoundary, Boundary, dropBoundary } from '../value/boundary.ts'
import { Branch, moveBranches } from '../value/branch.ts'
import { ApprovalId, BranchName, CallId, EntryId, MessageId, Seq, StepId } from '../value/id.ts'
import { unreachable } from '../value/result.ts'
import { Activity, ApprovalRule, Mode, ModelName, Status, statusOf, ThinkingLevel } from '../value/settings.ts'
import { ActiveSkill, addSkill, dropSkill } from '../value/skill.ts'
import { Todo } from '../value/todo.ts'
import { Usage } from '../value/usage.ts'
import { isEstimateAfter, tokensAfter, turnUsageAfter } from './usage-folds.ts'

/** A call that waits for a person's answer: before it runs, or with a question while it runs. */
export const PendingApproval = z.object({
  /** The id to answer with. */
  id: ApprovalId,
  /** The call that waits. */
  call: CallId,
  /** The name of the tool. */
  tool: z.string(),
  /** What would happen, as it is shown to a person. */
  preview: Preview,
  /** It was approved before, and the content changed since. */
  changed: z.literal(true).optional(),
  /** Why it is asked about each time, whatever is trusted or allowed. The answer covers only this call. */
  reason: z.string().optional(),
  /** The rule that wants a person to be asked; absent if no rule covers the call. */
  rule: z.string().optional(),
  /** The hook that changed the arguments of the call, if one did. */
  rewrittenBy: z.string().optional(),
})
export type PendingApproval = z.infer<typeof PendingApproval>

/** The current state of a session for screens, besides the transcript. */
export const SessionView = z.object({
  /** Whether the session is idle, works, failed or was interrupted. */
  status: Status,
  /** `plan` denies tools that change something. */
  mode: Mode,
  /** What it does now. */
  activity: Activity,
  /** Which calls ask for an approval: those that change something, all, or none. */
  approvals: ApprovalRule,
  /** Whether only tools that change nothing are offered. */
  readOnly: z.boolean(),
  /** The model in use. */
  model: ModelName,
  /** How much the model thinks. */
  thinkingLevel: ThinkingLevel,
  /** The model that took over for the rest of this turn; null when the session's own answers. */
  fallback: ModelName.nullable(),
  /** The running model call, or null. */
  step: StepId.nullable(),
  /** The calls that wait for an answer, in call order. */
  pendingApprovals: z.array(PendingApproval),
  /** The calls that are not settled yet. */
  activeToolCalls: z.array(z.object({ id: CallId, tool: z.string() })),
  /** The prompts that wait. */
  queue: z.array(QueueEntry),
  /** The tools that run without asking in this session. */
  trust: z.array(Trust),
  /** The lines that tools may change, by file. Files without one may be changed anywhere. */
  boundaries: z.array(Boundary),
  /** The skills that it follows, the newest last. */
  skills: z.array(ActiveSkill),
  /** The MCP servers that it does not use, by name. */
  serversOff: z.array(z.string()),
  /** The agent's list of tasks. */
  todos: z.array(Todo),
  /** Saved branches, oldest first. */
  branches: z.array(Branch),
  /** The current branch; null for a line without a name. */
  branch: BranchName.nullable(),
  /** The messages that stay in the context. */
  pins: z.array(MessageId),
  /** Whether tool calls are collapsed by default. */
  collapsed: z.boolean(),
  /** Size of the context the model would get now. */
  tokens: z.int().min(0),
  /** Whether `tokens` is at least partly estimated. */
  isEstimate: z.boolean(),
  /** Usage of the current or last turn; null when unknown, for example after a branch switch. */
  turnUsage: Usage.nullable(),
  /** The active checkpoint. */
  checkpoint: Seq.nullable(),
  /** How the last turn ended; null before the first. */
  lastTurn: z.object({ reason: TurnEnd, fault: ModelFault.optional() }).nullable(),
  /** Whether the stored client events cover the whole session. */
  clientEventsComplete: z.boolean(),
})
export type SessionView = z.infer<typeof SessionView>

/** Returns the view after one more record. */
export function addToView(view: SessionView, record: Recorded): SessionView {
  const next = applyToView(view, record)
  const { event } = record
  const tokens = tokensAfter(view.tokens, event)
  const isEstimate = isEstimateAfter(view.isEstimate, event)
  const isRunning = view.activity !== 'idle' && view.activity !== 'error'
  const turnUsage = turnUsageAfter(view.turnUsage, event, isRunning)
  const isSame = tokens === view.tokens && isEstimate === view.isEstimate && turnUsage === view.turnUsage
  if (next === view && isSame) return view
  return { ...next, tokens, isEstimate, turnUsage, status: statusOf(next.mode, next.activity) }
}

function applyToView(view: SessionView, { seq, at, event }: Recorded): SessionView {
  switch (event.type) {
    case 'session.started': {
      const { settings, fork } = event
      const inherited = fork && { pins: fork.pins.map(({ message }) => message), skills: fork.skills ?? [] }
      return { ...view, ...pick(settings), readOnly: event.readOnly ?? false, ...inherited }
    }
    case 'settings.changed':
      // Trust of the old workspace does not apply in a new folder.
      return {
        ...view,
        ...pick(event),
        ...(event.model !== undefined && { fallback: null }), // a person chose a model
        ...(event.workdir !== undefined && {
          trust: view.trust.filter(({ scope }) => scope !== 'workspace'),
          boundaries: [],
          skills: [],
        }),
      }
    case 'prompt.queued':
      return { ...view, queue: [...view.queue, queuedEntry(EntryId.parse(seq), event.queue, event)] }
    case 'queue.edited':
      return {
        ...view,
        queue: view.queue.map((one) => (one.id === event.entry ? queuedEntry(one.id, one.queue, event) : one)),
      }
    case 'queue.removed': {
      const gone = new Set<number>(event.entries.map(({ id }) => id))
      return { ...view, queue: view.queue.filter(({ id }) => !gone.has(id)) }
    }
    case 'queue.reordered':
      return { ...view, queue: reorderQueue(view.queue, event.queue, event.entries) }
    case 'trust.granted':
      return { ...view, trust: addTrust(view.trust, event) }
    case 'trust.revoked':
      return { ...view, trust: event.tool === null ? [] : view.trust.filter(({ tool }) => tool !== event.tool) }
    case 'boundary.set': {
      const { path, start, end } = event
      return { ...view, boundaries: addBoundary(view.boundaries, { path, start, end }) }
    }
    case 'boundary.cleared':
      return { ...view, boundaries: dropBoundary(view.boundaries, event.path) }
    case 'skill.activated': {
      const { type: _, ...skill } = event
      return { ...view, skills: addSkill(view.skills, { ...skill, since: seq }) }
    }
    case 'skill.deactivated':
      return { ...view, skills: dropSkill(view.skills, event.name) }
    case 'user.said':
      return event.entry === undefined ? view : { ...view, queue: view.queue.filter(({ id }) => id !== event.entry) }
    case 'turn.started':
      return { ...view, activity: 'thinking', fallback: null, lastTurn: null }
    case 'turn.ended':
      return {
        ...view,
        activity: event.reason === 'failed' ? 'error' : 'idle',
        step: null,
        fallback: null,
        activeToolCalls: [],
        pendingApprovals: [],
        trust: view.trust.filter(({ scope }) => scope !== 'turn'),
        lastTurn: { reason: event.reason, ...(event.fault && { fault: event.fault }) },
      }
    case 'step.started':
      return { ...view, activity: 'thinking', step: StepId.parse(seq) }
    case 'call.requested':
      if (event.givenId !== undefined) return view // the embedding program runs it
      return {
        ...view,
        activity: 'tool_executing',
        step: null, // the answer is complete; tools run now
        activeToolCalls: [...view.activeToolCalls, { id: CallId.parse(seq), tool: event.tool }],
      }
    case 'step.ended': {
      const { fallback } = event
      if (fallback === undefined) return { ...view, step: null }
      return { ...view, step: null, fallback: fallback === view.model ? null : fallback }
    }
    case 'approval.asked': {
      const { call, tool, preview, changed, reason, rule, rewrittenBy } = event
      const why = {
        ...(reason !== undefined && { reason }),
        ...(rule !== undefined && { rule }),
        ...(rewrittenBy !== undefined && { rewrittenBy }),
      }
      const asked = { id: ApprovalId.parse(seq), call, tool, preview, ...(changed && { changed }), ...why }
      const inCallOrder = [...view.pendingApprovals, asked].toSorted((left, right) => left.call - right.call)
      return { ...view, pendingApprovals: inCallOrder }
    }
    case 'question.asked': {
      const { call, tool, preview } = event
      const asked = { id: ApprovalId.parse(seq), call, tool, preview }
      const inCallOrder = [...view.pendingApprovals, asked].toSorted((left, right) => left.call - right.call)
      return { ...view, pendingApprovals: inCallOrder }
    }
    case 'question.answered':
    case 'call.approved':
      return { ...view, pendingApprovals: view.pendingApprovals.filter(({ call }) => call !== event.call) }
    case 'call.settled': {
      const activeToolCalls = view.activeToolCalls.filter(({ id }) => id !== event.call)
      if (activeToolCalls.length === view.activeToolCalls.length) return view
      return {
        ...view,
        activeToolCalls,
        activity: activeToolCalls.length === 0 ? 'thinking' : view.activity,
        pendingApprovals: view.pendingApprovals.filter(({ call }) => call !== event.call),
        ...(event.todos && { todos: event.todos }),
      }
    }
    case 'call.started':
    case 'child.started':
    case 'child.ended':
    case 'call.rewritten':
    case 'hook.ran':
    case 'context.changed':
    case 'thinking.said':
    case 'text.said':
    case 'note.added':
    case 'summary.saved':
    case 'session.forked':
    case 'log.repaired':
    case 'message.given':
    case 'files.touched':
    case 'files.restore_started':
    case 'files.restored':
      return view
    case 'client.said':
      return event.complete && !view.clientEventsComplete ? { ...view, clientEventsComplete: true } : view
    case 'message.collapsed':
      return event.message === null ? { ...view, collapsed: event.collapsed } : view
    case 'message.pinned': {
      const others = view.pins.filter((id) => id !== event.message)
      return { ...view, pins: event.pinned ? [...others, event.message] : others }
    }
    case 'line.moved': {
      const { keep, name, last, checkpoint } = event
      return {
        ...view,
        branches: moveBranches(view.branches, { ...keep, at }, name),
        branch: name,
        checkpoint,
        activity: last?.reason === 'failed' ? 'error' : 'idle',
        lastTurn: last && { reason: last.reason },
      }
    }
    case 'checkpoint.written':
      return { ...view, checkpoint: seq }
    case 'checkpoint.undone':
      return { ...view, checkpoint: event.holds }
    default:
      return unreachable(event)
  }
}

type Shown = {
  readonly model?: ModelName | undefined
  readonly thinkingLevel?: ThinkingLevel | undefined
  readonly mode?: Mode | undefined
  readonly approvals?: ApprovalRule | undefined
  readonly serversOff?: readonly string[] | undefined
}

/** Returns the settings a view shows. */
const pick = ({ model, thinkingLevel, mode, approvals, serversOff }: Shown) => ({
  ...(approvals !== undefined && { approvals }),
  ...(serversOff !== undefined && { serversOff: [...serversOff] }),
  ...(model !== undefined && { model }),
  ...(thinkingLevel !== undefined && { thinkingLevel }),
  ...(mode !== undefined && { mode }),
})
