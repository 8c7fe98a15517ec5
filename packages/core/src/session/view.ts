import {
  type Activity,
  type Answer,
  addToMeta,
  clip,
  type EventOf,
  limits,
  type Meta,
  noUsage,
  providerOf,
  type Recorded,
  restoredNames,
  type SessionId,
  type SessionView,
  statusOf,
  textOf,
  unreachable,
} from '@holdfast/protocol'
import type { CatalogueEntry } from '../ports/store/catalogue.ts'
import { isAtWork, openCalls, type SessionState, type Turn, waitingCalls, withoutUndefined } from './state.ts'

const activityOf = (turn: Turn): Activity => {
  if (turn.phase === 'acting') return 'tool_executing'
  if (turn.phase !== 'idle') return 'thinking'
  return turn.last?.reason === 'failed' ? 'error' : 'idle'
}

/** Returns the state as clients see it. Clients then follow records with `addToView`; a test compares the two. */
export function viewOf(state: SessionState): SessionView {
  const { turn, settings, branch, tokens, isEstimate, turnUsage, checkpoint, clientEventsComplete } = state
  const { mode, model, thinkingLevel, approvals = 'destructive' } = settings
  const activity = activityOf(turn)
  const last = turn.phase === 'idle' ? turn.last : null
  return {
    mode,
    model,
    thinkingLevel,
    approvals,
    activity,
    status: statusOf(mode, activity),
    readOnly: state.origin?.readOnly ?? false,
    branch,
    tokens,
    isEstimate,
    turnUsage,
    checkpoint,
    clientEventsComplete,
    fallback: turn.phase === 'idle' ? null : (turn.fallback?.model ?? null),
    step: turn.phase === 'thinking' ? turn.step : null,
    pendingApprovals: waitingCalls(state).map(
      ({ id: call, tool, approval: id, preview, changed, reason, rule, rewritten }) => ({
        id,
        call,
        tool,
        preview,
        ...(changed && { changed }),
        ...(reason !== undefined && { reason }),
        ...(rule !== undefined && { rule }),
        ...(rewritten && { rewrittenBy: rewritten.by }),
      }),
    ),
    activeToolCalls: openCalls(state).map(({ id, tool }) => ({ id, tool })),
    queue: [...state.queue],
    trust: [...state.trust],
    boundaries: state.boundaries.map(({ path, start, end }) => ({ path, start, end })),
    skills: [...state.skills],
    serversOff: [...(settings.serversOff ?? [])],
    todos: [...state.todos],
    branches: state.branches.map(({ name, turns, messages, at, hidden }) => ({
      name,
      turns,
      messages,
      at,
      ...(hidden && { hidden }),
    })),
    pins: state.pins.map(({ message }) => message),
    collapsed: state.collapse.all,
    lastTurn: last && { reason: last.reason, ...(last.fault && { fault: last.fault }) },
  }
}

/** The fold behind a catalogue row. Its size does not depend on the length of the session. */
export type EntryFold = {
  readonly entry: CatalogueEntry
  /** The last few messages, shortened, newest last: `recentText` is made of them. */
  readonly recent: readonly string[]
}

/** Returns the first row of a session: unlisted after a plain start, without a key, a title or a parent. */
export function newEntry(id: SessionId, at: string, started: EventOf<'session.started'>): EntryFold {
  const { handle, key, workdir, settings, background, fork } = started
  const { model, mode, title = '' } = settings
  const parent = started.parent ?? fork?.lineage.at(-1)?.session
  const meta: Meta = {
    id,
    handle,
    ...(key !== undefined && { key }),
    title,
    workspace: workdir,
    model,
    provider: providerOf(model),
    status: mode === 'plan' ? 'plan' : 'idle',
    mode,
    createdAt: at,
    lastMessageAt: at,
    messageCount: fork?.messages ?? 0,
    turnCount: fork?.turns ?? 0,
    branchCount: 0,
    usage: noUsage,
    preview: fork?.preview ?? '',
    recentText: '',
    pinned: false,
    ...(parent !== undefined && { parent }),
    ...(started.subagent && { subagent: started.subagent }),
    ...(background && { background }),
    ...(started.persist === false && { persist: false as const }),
    ...(started.hooksEnabled === false && { hooksEnabled: false as const }),
    attachments: 0,
  }
  const spoken = key !== undefined || title !== '' || parent !== undefined
  return { entry: { meta, spoken, busy: false, activeAt: Date.parse(at) }, recent: [] }
}

/** Folds one record into the row; `state` is the session's state after that record. */
export function addToEntry({ entry, recent }: EntryFold, record: Recorded, state: SessionState): EntryFold {
  const { at, event } = record
  const isSpeech = event.type === 'user.said' || event.type === 'text.said'
  const text = isSpeech ? textOf(event).trim() : ''
  // Messages of the former line are no longer recent.
  const before = event.type === 'line.moved' ? (event.shown?.recent ?? []) : recent
  const after =
    text === '' ? before : [...before, clip(text, limits.recentTextCharsMax)].slice(-limits.recentTextMessages)
  const { settings, branches } = state
  const { model, mode } = settings
  const shown = { model, mode, status: statusOf(mode, activityOf(state.turn)), branches }
  const meta = addToMeta(entry.meta, { ...shown, pendingApprovals: waitingCalls(state) }, record)
  return {
    recent: after,
    entry: {
      spoken: true, // every record after the first one is worth keeping
      busy: isAtWork(state),
      activeAt: isSpeech ? Date.parse(at) : entry.activeAt,
      meta: after === recent ? meta : { ...meta, recentText: newestText(after) },
    },
  }
}

/** Joins the newest messages that fit, oldest first. */
function newestText(recent: readonly string[]): string {
  let text = ''
  for (const one of recent.toReversed()) {
    const joined = text === '' ? one : `${one}\n${text}`
    if (joined.length > limits.recentTextCharsMax) return text === '' ? clip(one, limits.recentTextCharsMax) : text
    text = joined
  }
  return text
}

/** Returns the answer to a command: a function of the first record it wrote, so that a retry gets the same answer. */
export const answerOf = ({ seq, event }: Recorded): Answer => ({ seq, result: resultOf(event) })

function resultOf(event: Recorded['event']): Answer['result'] {
  switch (event.type) {
    case 'prompt.queued':
      return { queued: event.queue }
    case 'queue.removed':
      return event.recalled ? { entries: event.entries } : {}
    case 'settings.changed': {
      const { thinkingLevel, pinned, title, workdir, model, cycled } = event
      // Only the client of `cycleModel` does not know the model it gets.
      return withoutUndefined({ ...(cycled && { model, ...cycled }), thinkingLevel, pinned, title, workdir })
    }
    case 'line.moved':
      return { branch: event.why === 'switch' ? event.name : event.keep.name }
    case 'session.forked':
      return { session: event.fork }
    case 'message.pinned':
      return { pinned: event.pinned }
    case 'message.collapsed':
      return { collapsed: event.collapsed }
    case 'checkpoint.written':
      return { summary: event.summary, tokensBefore: event.tokensBefore, tokensAfter: event.tokensAfter }
    case 'checkpoint.undone':
      return { tokens: event.tokens }
    case 'summary.saved':
      return { text: event.text, path: event.path }
    case 'boundary.set':
      return { path: event.path, start: event.start, end: event.end }
    case 'files.restored':
      return { restored: restoredNames(event.items), refused: event.refused }
    case 'call.approved':
      return event.rule ? { rule: event.rule } : {}
    case 'note.added':
      return event.code?.startsWith('/') ? { ran: event.code.slice(1) } : {} // it answers a slash command
    case 'session.started':
    case 'files.touched':
    case 'files.restore_started':
    case 'context.changed':
    case 'queue.edited':
    case 'queue.reordered':
    case 'user.said':
    case 'message.given':
    case 'turn.started':
    case 'turn.ended':
    case 'step.started':
    case 'step.ended':
    case 'thinking.said':
    case 'text.said':
    case 'call.requested':
    case 'approval.asked':
    case 'question.asked':
    case 'question.answered':
    case 'call.started':
    case 'call.rewritten':
    case 'hook.ran':
    case 'call.settled':
    case 'child.started':
    case 'child.ended':
    case 'trust.granted':
    case 'trust.revoked':
    case 'boundary.cleared':
    case 'skill.activated':
    case 'skill.deactivated':
    case 'client.said':
    case 'log.repaired':
      return {}
    default:
      return unreachable(event)
  }
}
