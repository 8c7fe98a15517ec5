import { z } from 'zod'
import { Preview } from '../event/call.ts'
import type { Recorded } from '../event/event.ts'
import { QueueEntry, reorderQueue } from '../event/queue.ts'
import { addTrust, Trust } from '../event/trust.ts'
import { ModelFault, TurnEnd } from '../event/turn.ts'
import { Branch, moveBranches } from '../value/branch.ts'
import { ApprovalId, BranchName, CallId, EntryId, MessageId, Seq, StepId } from '../value/id.ts'
import { unreachable } from '../value/result.ts'
import { Activity, Mode, ModelName, Status, statusOf, ThinkingLevel } from '../value/settings.ts'
import { Usage } from '../value/usage.ts'
import { isEstimateAfter, tokensAfter } from './tokens.ts'
import { turnUsageAfter } from './usage-count.ts'

export const PendingApproval = z.object({ id: ApprovalId, call: CallId, tool: z.string(), preview: Preview })
export type PendingApproval = z.infer<typeof PendingApproval>

/** What a screen needs beside the transcript: where the session stands right now. */
export const SessionView = z.object({
  status: Status,
  mode: Mode,
  activity: Activity,
  model: ModelName,
  thinkingLevel: ThinkingLevel,
  /** The model that answers in place of the session's for the rest of this turn; null when its own does. */
  fallback: ModelName.nullable(),
  step: StepId.nullable(),
  pendingApprovals: z.array(PendingApproval),
  activeToolCalls: z.array(z.object({ id: CallId, tool: z.string() })),
  queue: z.array(QueueEntry),
  trust: z.array(Trust),
  /** The lines that were left and kept, oldest first. */
  branches: z.array(Branch),
  /** The name of the branch the session stands on; null for a line that has none yet. */
  branch: BranchName.nullable(),
  pins: z.array(MessageId),
  /** Whether tool calls are shown folded, unless one of them was turned over. */
  collapsed: z.boolean(),
  /** About how many tokens the model would be told now. */
  tokens: z.int().min(0),
  /** Whether that is our guess, be it in part, and not the provider's own count. */
  isEstimate: z.boolean(),
  /** What the turn that runs has used, or the last one; null where nobody counted, as on a line that was just taken up. */
  turnUsage: Usage.nullable(),
  /** The compaction that holds: what the model is told in place of the past. */
  checkpoint: Seq.nullable(),
  lastTurn: z.object({ reason: TurnEnd, fault: ModelFault.optional() }).nullable(),
  /** Whether the events that clients left here cover the whole session. */
  clientEventsComplete: z.boolean(),
})
export type SessionView = z.infer<typeof SessionView>

/** Follows a view along the records that come after it, so a client never has to ask where the session stands. */
export function addToView(view: SessionView, record: Recorded): SessionView {
  const next = changedView(view, record)
  const { event } = record
  const tokens = tokensAfter(view.tokens, event)
  const isEstimate = isEstimateAfter(view.isEstimate, event)
  const isRunning = view.activity !== 'idle' && view.activity !== 'error'
  const turnUsage = turnUsageAfter(view.turnUsage, event, isRunning)
  const isSame = tokens === view.tokens && isEstimate === view.isEstimate && turnUsage === view.turnUsage
  if (next === view && isSame) return view
  return { ...next, tokens, isEstimate, turnUsage, status: statusOf(next.mode, next.activity) }
}

function changedView(view: SessionView, { seq, at, event }: Recorded): SessionView {
  switch (event.type) {
    case 'session.started': {
      const { settings, fork } = event
      return { ...view, ...pick(settings), ...(fork && { pins: fork.pins.map(({ message }) => message) }) }
    }
    case 'settings.changed':
      // In another folder, what the former one trusts counts no more.
      return {
        ...view,
        ...pick(event),
        ...(event.model !== undefined && { fallback: null }), // whom a person chooses is asked
        ...(event.workdir !== undefined && { trust: view.trust.filter(({ scope }) => scope !== 'workspace') }),
      }
    case 'prompt.queued':
      return { ...view, queue: [...view.queue, { id: EntryId.parse(seq), queue: event.queue, content: event.content }] }
    case 'queue.edited':
      return {
        ...view,
        queue: view.queue.map((one) => (one.id === event.entry ? { ...one, content: event.content } : one)),
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
      if (event.givenId !== undefined) return view // no work of the session
      return {
        ...view,
        activity: 'tool_executing',
        step: null, // all that it says is said: the session acts now
        activeToolCalls: [...view.activeToolCalls, { id: CallId.parse(seq), tool: event.tool }],
      }
    case 'step.ended': {
      const { fallback } = event
      if (fallback === undefined) return { ...view, step: null }
      return { ...view, step: null, fallback: fallback === view.model ? null : fallback }
    }
    case 'approval.asked': {
      const { call, tool, preview } = event
      return {
        ...view,
        pendingApprovals: [...view.pendingApprovals, { id: ApprovalId.parse(seq), call, tool, preview }],
      }
    }
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
      }
    }
    case 'call.started':
    case 'context.changed':
    case 'thinking.said':
    case 'text.said':
    case 'note.added':
    case 'summary.saved':
    case 'session.forked':
    case 'log.repaired':
    case 'message.given':
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
}

/** Of the settings, those a view shows. */
const pick = ({ model, thinkingLevel, mode }: Shown) => ({
  ...(model !== undefined && { model }),
  ...(thinkingLevel !== undefined && { thinkingLevel }),
  ...(mode !== undefined && { mode }),
})
