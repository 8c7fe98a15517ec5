import {
  ApprovalId,
  addTrust,
  addUsage,
  CallId,
  EntryId,
  type Event,
  invariant,
  MessageId,
  type Recorded,
  reorderQueue,
  type Seq,
  StepId,
  type TurnNumber,
  unreachable,
} from '@holdfast/protocol'
import type { Call, CallProgress, SessionState, Turn } from './state.ts'

/** The number of this fold. Change it whenever the same log would fold to another state: old snapshots are then dropped. */
export const foldNumber = 5

/** Folds one record. Total, synchronous, and never refuses: what is in the log has happened. */
export function evolve(state: SessionState, record: Recorded): SessionState {
  invariant(record.seq === state.seq + 1, `log has a hole: ${state.seq} then ${record.seq}`)
  return { ...changed(state, record.seq, record.event), seq: record.seq }
}

function changed(state: SessionState, seq: Seq, event: Event): SessionState {
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
      return fork ? { ...started, line: fork.line, turns: fork.turns, checkpoint: fork.checkpoint ?? null } : started
    }
    case 'settings.changed': {
      const { type: _, ...given } = event
      return { ...state, settings: { ...state.settings, ...withoutUndefined(given) } }
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
    case 'call.requested':
      return { ...state, turn: withCall(state.turn, { id: CallId.parse(seq), tool: event.tool, status: 'requested' }) }
    case 'step.ended': {
      const { usage } = event
      const used = usage ? addUsage(state.used, { ...usage, cost: usage.cost ?? 0 }) : state.used
      const isOver = state.turn.phase === 'thinking'
      return {
        ...state,
        used,
        turn: isOver ? { phase: 'preparing', isAnswered: true, ...counted(state.turn, 0) } : state.turn,
      }
    }
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
    case 'call.settled':
      return { ...state, turn: withoutCall(state.turn, event.call) }
    case 'turn.ended': {
      const last = { number: event.turn, reason: event.reason, ...(event.fault && { fault: event.fault }) }
      const trust = state.trust.filter(({ scope }) => scope !== 'turn') // it ends with its turn, however that ends
      return { ...state, trust, turn: { phase: 'idle', last } }
    }
    case 'line.moved':
      return { ...state, line: event.to, turns: event.turns, checkpoint: null, lastAnswer: null }
    case 'checkpoint.written':
      return { ...state, checkpoint: seq }
    case 'text.said':
      return { ...state, lastAnswer: MessageId.parse(seq) }
    case 'message.pinned': {
      const others = state.pins.filter((id) => id !== event.message)
      return { ...state, pins: event.pinned ? [...others, event.message] : others }
    }
    case 'trust.granted':
      return { ...state, trust: addTrust(state.trust, event) }
    case 'trust.revoked':
      return { ...state, trust: event.tool === null ? [] : state.trust.filter(({ tool }) => tool !== event.tool) }
    case 'thinking.said':
    case 'note.added':
    case 'log.repaired':
      return state
    default:
      return unreachable(event)
  }
}

/** The counts of the turn that goes on. */
function counted(turn: Turn, more: number): { readonly number: TurnNumber; readonly steps: number } {
  invariant(turn.phase !== 'idle', 'a step without a turn')
  return { number: turn.number, steps: turn.steps + more }
}

function withCall(turn: Turn, call: Call): Turn {
  invariant(turn.phase === 'thinking' || turn.phase === 'acting', 'a call without a step')
  const calls = turn.phase === 'acting' ? [...turn.calls, call] : [call]
  return { phase: 'acting', step: turn.step, calls, ...counted(turn, 0) }
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
