import type { Draft } from '../../ports/store.ts'
import type { Events, Facts } from '../input.ts'
import { askedCalls, type Call, isAnswered, openCalls, type SessionState } from '../state.ts'
import { settle } from './call.ts'
import { withdrawQuestion } from './question.ts'
import { saidEvents } from './step.ts'

type Cause = 'aborted' | 'crashed' | 'stopped'

/** Ends the turn: text stays, running calls are interrupted, waiting ones cancelled. */
export function abandonTurn(state: SessionState, cause: Cause, { draft, printed }: Facts): Events {
  const { turn } = state
  if (turn.phase === 'idle') return []
  // A complete answer is done, although its Stop hooks may not have been asked.
  const isDone = cause !== 'aborted' && isAnswered(state)
  const reason = cause === 'aborted' ? 'aborted' : isDone ? 'done' : 'interrupted'
  return [
    ...(reason === 'done' ? [] : cutAnswer(state, reason, draft ?? null)),
    ...openCalls(state).flatMap((call) => interrupt(call, cause, printed?.get(call.id))),
    { type: 'turn.ended', turn: turn.number, reason },
  ]
}

/**
 * Recovers after a crash or a clean stop; nothing restarts by itself. Calls with an unknown result are settled as
 * interrupted, and the turn ends until it is continued. An open question keeps waiting and keeps its turn open.
 */
export function recover(state: SessionState, cause: 'crashed' | 'stopped', draft: Draft | null): Events {
  if (askedCalls(state).length === 0) return abandonTurn(state, cause, { draft })
  return openCalls(state)
    .filter(({ status }) => status !== 'asked')
    .flatMap((call) => interrupt(call, cause))
}

function cutAnswer(state: SessionState, finish: 'aborted' | 'interrupted', draft: Draft | null): Events {
  if (state.turn.phase !== 'thinking') return []
  const { number: turn, step } = state.turn
  const spoken = draft?.step === step ? saidEvents(state, step, draft.parts, true) : []
  return [...spoken, { type: 'step.ended', turn, step, finish, usage: null }]
}

function interrupt(call: Call, cause: Cause, printed?: string): Events {
  const { id, status } = call
  if (status !== 'started') return [settle(id, { type: 'interrupted', code: 'cancelled' })]
  const outcome = { type: 'interrupted', code: cause, ...(printed && { output: { text: printed } }) } as const
  return [...withdrawQuestion(call), settle(id, outcome)]
}
