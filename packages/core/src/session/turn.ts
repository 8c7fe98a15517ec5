import { type CallId, invariant, type ModelName, type StepId } from '@holdfast/protocol'
import type { Call, CallProgress, Turn, TurnCount } from './state.ts'

/** Returns the counts of the running turn, with `more` steps added. */
export function counted(turn: Turn, more: number): TurnCount {
  invariant(turn.phase !== 'idle', 'a step without a turn')
  return { number: turn.number, steps: turn.steps + more, fallback: turn.fallback }
}

/** Passes the answer on to another model; the failed call does not count as a step. */
export function fallenBack(turn: Extract<Turn, { phase: 'thinking' }>, model: ModelName, own: ModelName): Turn {
  const tried = [...(turn.fallback?.tried ?? []), turn.model]
  const fallback = model === own ? null : { model, tried }
  return { phase: 'preparing', isAnswered: false, attempt: turn.attempt + 1, ...counted(turn, -1), fallback }
}

/** Ends the fallback: a person chose a model. */
export const withoutFallback = (turn: Turn): Turn => (turn.phase === 'idle' ? turn : { ...turn, fallback: null })

/** Adds a call to the round. A seeded call has no step of ours; it is settled at once. */
export function withCall(turn: Turn, step: StepId, call: Call): Turn {
  const calls = turn.phase === 'acting' ? [...turn.calls, call] : [call]
  return { phase: 'acting', step, calls, ...counted(turn, 0) }
}

export function progressed(turn: Turn, id: CallId, progress: CallProgress): Turn {
  invariant(turn.phase === 'acting', 'a call moved outside its round')
  return { ...turn, calls: turn.calls.map((call) => (call.id === id ? { id, tool: call.tool, ...progress } : call)) }
}

export function withStarted(
  turn: Turn,
  id: CallId,
  process: Extract<CallProgress, { status: 'started' }>['process'],
): Turn {
  const call = turn.phase === 'acting' ? turn.calls.find((one) => one.id === id) : undefined
  invariant(call?.status === 'approved', `call ${id} started unapproved`)
  return progressed(turn, id, { status: 'started', argsHash: call.argsHash, process })
}

/** Removes a settled call. The last one closes the round, and the next step is due. */
export function withoutCall(turn: Turn, id: CallId): Turn {
  invariant(turn.phase === 'acting', 'a call settled outside its round')
  const calls = turn.calls.filter((call) => call.id !== id)
  return calls.length > 0
    ? { ...turn, calls }
    : { phase: 'preparing', isAnswered: false, attempt: 1, ...counted(turn, 0) }
}
