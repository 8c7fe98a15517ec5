import {
  ApprovalId,
  addTrust,
  CallId,
  EntryId,
  eventTokens,
  invariant,
  limits,
  MessageId,
  messagesAfter,
  type Recorded,
  reorderQueue,
  StepId,
  type TurnNumber,
  tokensAfter,
  unreachable,
  usageAfter,
} from '@holdfast/protocol'
import { addCheckpoint, dropCheckpoint, inherit, moveLine } from './line.ts'
import { type Call, type CallProgress, compactionFailed, type SessionState, type Turn } from './state.ts'

/** The number of this fold. Change it whenever the same log would fold to another state: old snapshots are then dropped. */
export const foldNumber = 8

/** Folds one record. Total, synchronous, and never refuses: what is in the log has happened. */
export function evolve(state: SessionState, record: Recorded): SessionState {
  invariant(record.seq === state.seq + 1, `log has a hole: ${state.seq} then ${record.seq}`)
  const { seq, event } = record
  const tokens = tokensAfter(state.tokens, event)
  const messages = messagesAfter(state.messages, event)
  const used = usageAfter(state.used, event, 0)
  return { ...changed(state, record), seq, tokens, messages, used }
}

function changed(state: SessionState, { seq, at, event }: Recorded): SessionState {
  switch (event.type) {
    case 'session.started': {
      const {
        handle,
        key = null,
        workdir,
        settings,
        tools = null,
        readOnly = false,
        persist = true,
        instructions = null,
        providerOptions = null,
        fork,
      } = event
      const origin = { handle, key, workdir, tools, readOnly, persist, instructions, providerOptions }
      const started = { ...state, origin, settings }
      return fork ? inherit(started, fork) : started
    }
    case 'settings.changed': {
      const { type: _, named: _named, pinned = state.isPinned, workdir, ...given } = event
      const settings = { ...state.settings, ...withoutUndefined(given) }
      return { ...(workdir === undefined ? state : moved(state, workdir)), settings, isPinned: pinned }
    }
    case 'context.changed':
      return { ...state, context: { system: event.system, tools: event.tools } }
    case 'prompt.queued':
      return {
        ...state,
        queue: [...state.queue, { id: EntryId.parse(seq), queue: event.queue, content: event.content }],
      }
    case 'queue.edited': {
      const queue = state.queue.map((one) => (one.id === event.entry ? { ...one, content: event.content } : one))
      return { ...state, queue }
    }
    case 'queue.removed': {
      const gone = new Set<number>(event.entries.map(({ id }) => id))
      return { ...state, queue: state.queue.filter(({ id }) => !gone.has(id)) }
    }
    case 'queue.reordered':
      return { ...state, queue: reorderQueue(state.queue, event.queue, event.entries) }
    case 'user.said':
      return event.entry === undefined ? state : { ...state, queue: state.queue.filter(({ id }) => id !== event.entry) }
    case 'turn.started':
      return {
        ...state,
        turns: event.turn + 1,
        turn: { phase: 'preparing', isAnswered: false, number: event.turn, steps: 0 },
      }
    case 'step.started': {
      const { model, thinkingLevel } = event
      const step = StepId.parse(seq)
      return { ...state, turn: { phase: 'thinking', step, model, thinkingLevel, ...counted(state.turn, 1) } }
    }
    case 'call.requested': {
      const { givenId: id } = event
      if (id !== undefined) return { ...state, awaited: [...state.awaited, { call: CallId.parse(seq), id }] }
      const call = { id: CallId.parse(seq), tool: event.tool, status: 'requested' } as const
      return { ...state, turn: withCall(state.turn, event.step, call) }
    }
    case 'step.ended':
      if (state.turn.phase !== 'thinking') return state
      return { ...state, turn: { phase: 'preparing', isAnswered: true, ...counted(state.turn, 0) } }
    case 'approval.asked': {
      const { argsHash, preview, expiresAt = null } = event
      return {
        ...state,
        turn: progressed(state.turn, event.call, {
          status: 'asked',
          approval: ApprovalId.parse(seq),
          argsHash,
          preview,
          expiresAt,
        }),
      }
    }
    case 'call.approved':
      return { ...state, turn: progressed(state.turn, event.call, { status: 'approved', argsHash: event.argsHash }) }
    case 'call.started':
      return { ...state, turn: started(state.turn, event.call, event.process ?? null) }
    case 'call.settled': {
      const awaited = state.awaited.filter(({ call }) => call !== event.call)
      if (awaited.length < state.awaited.length) return { ...state, awaited }
      return { ...state, turn: withoutCall(state.turn, event.call) }
    }
    case 'turn.ended': {
      const last = { number: event.turn, reason: event.reason, ...(event.fault && { fault: event.fault }) }
      const trust = state.trust.filter(({ scope }) => scope !== 'turn') // it ends with its turn, however that ends
      return { ...state, trust, turn: { phase: 'idle', last } }
    }
    case 'line.moved':
      return moveLine(state, seq, at, event)
    case 'checkpoint.written':
      return addCheckpoint(state, seq, event)
    case 'checkpoint.undone':
      return dropCheckpoint(state, event)
    case 'text.said':
      return { ...state, lastAnswer: { message: MessageId.parse(seq), tokens: eventTokens(event) } }
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
    case 'client.said':
      return event.complete ? { ...state, clientEventsComplete: true } : state
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

/** In another folder. What its former workspace trusts is that one's; what the session trusts itself stays. */
function moved(state: SessionState, workdir: string): SessionState {
  const trust = state.trust.filter(({ scope }) => scope !== 'workspace')
  return { ...state, origin: state.origin && { ...state.origin, workdir }, trust }
}

/** The counts of the turn that goes on. */
function counted(turn: Turn, more: number): { readonly number: TurnNumber; readonly steps: number } {
  invariant(turn.phase !== 'idle', 'a step without a turn')
  return { number: turn.number, steps: turn.steps + more }
}

/** A call that was seeded has no step of ours: it was made elsewhere, and comes with what it came to. */
function withCall(turn: Turn, step: StepId, call: Call): Turn {
  const calls = turn.phase === 'acting' ? [...turn.calls, call] : [call]
  return { phase: 'acting', step, calls, ...counted(turn, 0) }
}

function collapsed(
  collapse: SessionState['collapse'],
  message: MessageId | null,
  isCollapsed: boolean,
): SessionState['collapse'] {
  if (message === null) return { all: isCollapsed, except: [] }
  const others = collapse.except.filter((id) => id !== message)
  const except = isCollapsed === collapse.all ? others : [...others, message].slice(-limits.collapsesMax)
  return { ...collapse, except }
}

function progressed(turn: Turn, id: CallId, progress: CallProgress): Turn {
  invariant(turn.phase === 'acting', 'a call moved outside its round')
  return { ...turn, calls: turn.calls.map((call) => (call.id === id ? { id, tool: call.tool, ...progress } : call)) }
}

function started(turn: Turn, id: CallId, process: Extract<CallProgress, { status: 'started' }>['process']): Turn {
  const call = turn.phase === 'acting' ? turn.calls.find((one) => one.id === id) : undefined
  invariant(call?.status === 'approved', `call ${id} started unapproved`)
  return progressed(turn, id, { status: 'started', argsHash: call.argsHash, process })
}

/** The last call to settle closes the round, and the next step is owed. */
function withoutCall(turn: Turn, id: CallId): Turn {
  invariant(turn.phase === 'acting', 'a call settled outside its round')
  const calls = turn.calls.filter((call) => call.id !== id)
  return calls.length > 0 ? { ...turn, calls } : { phase: 'preparing', isAnswered: false, ...counted(turn, 0) }
}

const withoutUndefined = <Values extends object>(
  values: Values,
): { [Key in keyof Values]: Exclude<Values[Key], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never // the filter is the cast's reason
