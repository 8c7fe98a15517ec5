import type { Event, Outcome } from '@holdfast/protocol'
import type { Draft } from '../../ports/store.ts'
import type { Facts } from '../input.ts'
import type { Call, SessionState } from '../state.ts'
import { askedCalls } from '../state.ts'
import { said } from './step.ts'

type Cause = 'aborted' | 'crashed' | 'stopped'

/** Ends the turn: text stays, running calls are interrupted, waiting ones cancelled. */
export function abandonTurn(state: SessionState, cause: Cause, { draft, printed }: Facts): readonly Event[] {
  const { turn } = state
  if (turn.phase === 'idle') return []
  const calls = turn.phase === 'acting' ? turn.calls : []
  return [
    ...cutAnswer(state, cause, draft ?? null),
    ...calls.map((call) => interrupt(call, cause, printed?.get(call.id))),
    { type: 'turn.ended', turn: turn.number, reason: cause === 'aborted' ? 'aborted' : 'interrupted' },
  ]
}

/**
 * Recovers after a crash or a clean stop; nothing restarts by itself. Calls with an unknown result are settled as
 * interrupted, and the turn ends until it is continued. An open question keeps waiting and keeps its turn open.
 */
export function recover(state: SessionState, cause: 'crashed' | 'stopped', draft: Draft | null): readonly Event[] {
  const { turn } = state
  if (turn.phase !== 'acting' || askedCalls(state).length === 0) return abandonTurn(state, cause, { draft })
  return turn.calls.filter(({ status }) => status !== 'asked').map((call) => interrupt(call, cause))
}

function cutAnswer(state: SessionState, cause: Cause, draft: Draft | null): readonly Event[] {
  if (state.turn.phase !== 'thinking') return []
  const { number: turn, step } = state.turn
  const finish = cause === 'aborted' ? 'aborted' : 'interrupted'
  const spoken = draft?.step === step ? said(state, step, draft.parts, true) : []
  return [...spoken, { type: 'step.ended', turn, step, finish, usage: null }]
}

function interrupt({ id: call, status }: Call, cause: Cause, printed?: string): Event {
  const hasRun = status === 'started'
  const output = hasRun && printed ? { output: { text: printed } } : {}
  const outcome: Outcome = { type: 'interrupted', code: hasRun ? cause : 'cancelled', ...output }
  return { type: 'call.settled', call, outcome, durationMs: null }
}
