import {
  ApprovalId,
  addBoundary,
  addSeen,
  addSkill,
  addTrust,
  CallId,
  dropBoundary,
  dropSkill,
  EntryId,
  type EventOf,
  eventTokens,
  invariant,
  isEstimateAfter,
  limits,
  localPayer,
  type MessageId,
  type ModelName,
  messagesAfter,
  type ProcessMark,
  type QueueEntry,
  queuedEntry,
  type Recorded,
  reorderQueue,
  type StepId,
  spentAfter,
  tokensAfter,
  turnUsageAfter,
  unreachable,
} from '@holdfast/protocol'
import { afterHook, hooked, withoutGoingOn } from './hooked-turn.ts'
import { addCheckpoint, dropCheckpoint, inherit, moveLine } from './line.ts'
import { withChild, withoutChildOf } from './open-child.ts'
import {
  type Call,
  type CallProgress,
  compactionFailed,
  findCall,
  type OpenQuestion,
  type SessionState,
  type Turn,
  type TurnCount,
  withoutUndefined,
} from './state.ts'

/** The version of this fold. Raise it when the same log would fold to another state: old snapshots are then ignored. */
export const foldNumber = 21

/** How many written contents of a round are remembered. */
const writtenMax = 1000

/** Folds one record. Total, synchronous, and never refuses: a recorded event has happened. */
export function evolve(state: SessionState, record: Recorded): SessionState {
  const { seq, event } = record
  // Not before it fails: the text would be made for each record of a fold.
  if (seq !== state.seq + 1) invariant(false, `log has a hole: ${state.seq} then ${seq}`)
  const tokens = tokensAfter(state.tokens, event)
  const messages = messagesAfter(state.messages, event)
  const used = spentAfter(state.used, event)
  const isEstimate = isEstimateAfter(state.isEstimate, event)
  const turnUsage = turnUsageAfter(state.turnUsage, event, state.turn.phase !== 'idle')
  return { ...applyEvent(state, record), seq, tokens, isEstimate, messages, used, turnUsage }
}

function applyEvent(state: SessionState, { seq, at, event }: Recorded): SessionState {
  switch (event.type) {
    case 'session.started': {
      const { handle, key = null, workdir, tools = null, readOnly = false, persist = true, settings, fork } = event
      const { instructions = null, providerOptions = null, hooksEnabled = true } = event
      const sessionStartHook = hooksEnabled && (event.sessionStartHook ?? true)
      const above = { parent: event.parent ?? null, subagent: event.subagent ?? null }
      const own = { instructions, providerOptions, hooksEnabled, sessionStartHook, ...above }
      const origin = { handle, key, workdir, tools, readOnly, persist, ...own }
      const started = { ...state, origin, settings }
      return fork ? inherit(started, fork) : started
    }
    case 'settings.changed': {
      const { type: _, named: _named, cycled: _cycled, pinned = state.isPinned, workdir, ...given } = event
      const settings = { ...state.settings, ...withoutUndefined(given) }
      const turn = given.model === undefined ? state.turn : withoutFallback(state.turn)
      return { ...(workdir === undefined ? state : moved(state, workdir)), settings, isPinned: pinned, turn }
    }
    case 'context.changed':
      return { ...state, context: { system: event.system, tools: event.tools } }
    case 'prompt.queued':
      return { ...state, queue: [...state.queue, queuedEntry(EntryId.parse(seq), event.queue, event)] }
    case 'queue.edited': {
      const edited = (one: QueueEntry) => (one.id === event.entry ? queuedEntry(one.id, one.queue, event) : one)
      return { ...state, queue: state.queue.map(edited) }
    }
    case 'queue.removed': {
      const gone = new Set<number>(event.entries.map(({ id }) => id))
      return { ...state, queue: state.queue.filter(({ id }) => !gone.has(id)) }
    }
    case 'queue.reordered':
      return { ...state, queue: reorderQueue(state.queue, event.queue, event.entries) }
    case 'user.said':
      if (event.entry === undefined) return state
      return { ...state, queue: state.queue.filter(({ id }) => id !== event.entry), turn: withoutGoingOn(state.turn) }
    case 'turn.started': {
      const turn = preparing({ number: event.turn, steps: 0, fallback: null })
      return { ...state, turns: event.turn + 1, payer: event.payer ?? localPayer, turn }
    }
    case 'step.started': {
      const { model, thinkingLevel, attempt } = event
      const step = seq as StepId // a step's id is its seq; to parse it takes long in a fold of many records
      return { ...state, turn: { phase: 'thinking', step, model, thinkingLevel, attempt, ...counted(state.turn, 1) } }
    }
    case 'call.requested': {
      const { givenId: id } = event
      if (id !== undefined) return { ...state, awaited: [...state.awaited, { call: CallId.parse(seq), id }] }
      const call = { id: seq as CallId, tool: event.tool, status: 'requested' } as const // a call's id is its seq
      return { ...state, turn: withCall(state.turn, event.step, call) }
    }
    case 'step.ended':
      if (state.turn.phase !== 'thinking') return state
      if (event.fallback !== undefined)
        return { ...state, turn: fallenBack(state.turn, event.fallback, state.settings.model) }
      return { ...state, turn: { ...preparing(counted(state.turn)), isAnswered: true } }
    case 'approval.asked': {
      const { argsHash, contentHash = null, preview, expiresAt = null, changed = false, reason, rule } = event
      const question = { approval: ApprovalId.parse(seq), argsHash, contentHash, preview, expiresAt, changed }
      const asked = { status: 'asked', ...question, ...withoutUndefined({ reason, rule }) } as const
      return { ...state, turn: progressed(state.turn, event.call, asked) }
    }
    case 'call.rewritten':
      return { ...state, turn: hooked(state.turn, event.call, { rewritten: { seq, by: event.hook } }) }
    case 'hook.ran':
      return { ...state, turn: afterHook(state.turn, seq, event) }
    case 'call.approved': {
      const { argsHash, contentHash = null } = event
      const call = findCall(state, event.call)
      const preview = call?.status === 'asked' ? call.preview : null
      return {
        ...state,
        turn: progressed(state.turn, event.call, { status: 'approved', argsHash, contentHash, preview }),
      }
    }
    case 'question.asked': {
      const question = { approval: ApprovalId.parse(seq), preview: event.preview, expiresAt: event.expiresAt ?? null }
      return { ...state, turn: withQuestion(state.turn, event.call, question) }
    }
    case 'question.answered':
      return { ...state, turn: withQuestion(state.turn, event.call, null) }
    case 'call.started':
      return { ...state, turn: withStarted(state.turn, event.call, event.process ?? null) }
    case 'call.settled': {
      const awaited = state.awaited.filter(({ call }) => call !== event.call)
      if (awaited.length < state.awaited.length) return { ...state, awaited }
      const seen = event.seen ? addSeen(state.seen, event.seen) : state.seen
      const turn = withoutCall(state.turn, event)
      const children = withoutChildOf(state, event.call)
      return { ...state, seen, turn, children, ...(event.todos && { todos: event.todos }) }
    }
    case 'child.started':
      return { ...state, ...withChild(state, event) }
    case 'child.ended':
      return { ...state, children: state.children.filter(({ session }) => session !== event.child) }
    case 'turn.ended': {
      const last = { number: event.turn, reason: event.reason, ...(event.fault && { fault: event.fault }) }
      const trust = state.trust.filter(({ scope }) => scope !== 'turn') // trust for a turn ends with it
      return { ...state, trust, turn: { phase: 'idle', last } }
    }
    case 'line.moved':
      return moveLine(state, seq, at, event)
    case 'checkpoint.written':
      return addCheckpoint(state, seq, event)
    case 'checkpoint.undone':
      return dropCheckpoint(state, event)
    case 'text.said':
      return { ...state, lastAnswer: { message: seq as MessageId, tokens: eventTokens(event) } } // a message's id is its seq
    case 'message.pinned': {
      const { message, pinned, tokens = 0 } = event
      const others = state.pins.filter((pin) => pin.message !== message)
      return { ...state, pins: pinned ? [...others, { message, tokens }] : others }
    }
    case 'message.collapsed':
      return { ...state, collapse: collapsed(state.collapse, event.message, event.collapsed) }
    case 'note.added':
      if (event.code !== compactionFailed) return state
      return { ...state, compaction: { ...state.compaction, failedAt: state.tokens } }
    case 'trust.granted':
      return { ...state, trust: addTrust(state.trust, event) }
    case 'trust.revoked':
      return { ...state, trust: event.tool === null ? [] : state.trust.filter(({ tool }) => tool !== event.tool) }
    case 'boundary.set': {
      const { type: _, moved: _moved, ...boundary } = event
      return { ...state, boundaries: addBoundary(state.boundaries, boundary) }
    }
    case 'boundary.cleared':
      return { ...state, boundaries: dropBoundary(state.boundaries, event.path) }
    case 'skill.activated': {
      const { type: _, ...skill } = event
      return { ...state, skills: addSkill(state.skills, { ...skill, since: seq }) }
    }
    case 'skill.deactivated':
      return { ...state, skills: dropSkill(state.skills, event.name) }
    case 'client.said':
      return event.complete ? { ...state, clientEventsComplete: true } : state
    case 'files.restore_started':
    case 'files.touched':
    case 'files.restored':
    case 'message.given':
    case 'thinking.said':
    case 'summary.saved':
    case 'session.forked':
    case 'log.repaired':
      return state
    default:
      return unreachable(event)
  }
}

/** Moves to another folder. Trust, boundaries, skills and seen files of the former workspace stay there; the session's own trust remains. */
function moved(state: SessionState, workdir: string): SessionState {
  const trust = state.trust.filter(({ scope }) => scope !== 'workspace')
  return { ...state, origin: state.origin && { ...state.origin, workdir }, trust, boundaries: [], skills: [], seen: [] }
}

type Collapse = SessionState['collapse']

function collapsed({ all, except }: Collapse, message: MessageId | null, isCollapsed: boolean): Collapse {
  if (message === null) return { all: isCollapsed, except: [] }
  const others = except.filter((id) => id !== message)
  return { all, except: isCollapsed === all ? others : [...others, message].slice(-limits.collapsesMax) }
}

/** Returns a turn whose next step is due. */
const preparing = (count: TurnCount) => ({ phase: 'preparing', isAnswered: false, attempt: 1, ...count }) as const

/** Returns the counts of the running turn, with `more` steps added. */
function counted(turn: Turn, more = 0): TurnCount {
  invariant(turn.phase !== 'idle', 'a step without a turn')
  const { number, steps, fallback, stop, goneOn } = turn
  return {
    number,
    steps: steps + more,
    fallback,
    ...(stop !== undefined && { stop }),
    ...(goneOn !== undefined && { goneOn }),
  }
}

/** Passes the answer on to another model; the failed call does not count as a step. */
function fallenBack(turn: Extract<Turn, { phase: 'thinking' }>, model: ModelName, own: ModelName): Turn {
  const tried = [...(turn.fallback?.tried ?? []), turn.model]
  const fallback = model === own ? null : { model, tried }
  return { ...preparing({ ...counted(turn, -1), fallback }), attempt: turn.attempt + 1 }
}

/** Ends the fallback: a person chose a model. */
const withoutFallback = (turn: Turn): Turn => (turn.phase === 'idle' ? turn : { ...turn, fallback: null })

/** Adds a call to the round. A seeded call has no step of ours; it is settled at once. */
function withCall(turn: Turn, step: StepId, call: Call): Turn {
  const { calls, written } = turn.phase === 'acting' ? turn : { calls: [], written: [] }
  return { phase: 'acting', step, calls: [...calls, call], written, ...counted(turn) }
}

function progressed(turn: Turn, id: CallId, progress: CallProgress): Turn {
  invariant(turn.phase === 'acting', 'a call moved outside its round')
  return { ...turn, calls: turn.calls.map((call) => (call.id === id ? { ...lasting(call), ...progress } : call)) }
}

/** Returns what stays of a call when it progresses. */
const lasting = ({ id, tool, rewritten, permission, told }: Call) => ({
  id,
  tool,
  ...(rewritten && { rewritten }),
  ...(permission && { permission }),
  ...(told && { told }),
})

function withStarted(turn: Turn, id: CallId, process: ProcessMark | null): Turn {
  const call = turn.phase === 'acting' ? turn.calls.find((one) => one.id === id) : undefined
  invariant(call?.status === 'approved', `call ${id} started unapproved`)
  return progressed(turn, id, { status: 'started', argsHash: call.argsHash, process })
}

/** Puts the question of a running call, or removes its answered one. */
function withQuestion(turn: Turn, id: CallId, question: OpenQuestion | null): Turn {
  const call = turn.phase === 'acting' ? turn.calls.find((one) => one.id === id) : undefined
  invariant(call?.status === 'started', `call ${id} asked before it started`)
  const { status, argsHash, process } = call
  return progressed(turn, id, { status, argsHash, process, ...(question && { question }) })
}

/** Removes a settled call. The last one closes the round, and the next step is due. */
function withoutCall(turn: Turn, { call: id, files = [] }: EventOf<'call.settled'>): Turn {
  invariant(turn.phase === 'acting', 'a call settled outside its round')
  const calls = turn.calls.filter((call) => call.id !== id)
  if (calls.length === 0) return preparing(counted(turn))
  const hashes = files.flatMap(({ contentHash }) => (contentHash === undefined ? [] : [contentHash]))
  return { ...turn, calls, written: [...turn.written, ...hashes].slice(-writtenMax) }
}
