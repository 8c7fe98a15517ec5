import type { Draft } from '../../ports/store/draft.ts'
import type { Facts } from '../facts.ts'
import type { Events, FoundChild, Left } from '../input.ts'
import { childOf } from '../open-child.ts'
import { type Call, isAnswered, openCalls, type SessionState } from '../state.ts'
import { settle } from './call.ts'
import { childOutcome, filesOf, isChildWaiting, queueResults } from './child.ts'
import { withdrawQuestion } from './question.ts'
import { saidEvents } from './step.ts'

type Cause = 'aborted' | 'crashed' | 'stopped'

/** Ends the turn: text stays, running calls are interrupted, waiting ones cancelled. */
export function abandonTurn(
  state: SessionState,
  cause: Cause,
  { draft, printed }: Facts,
  children: readonly FoundChild[] = [],
): Events {
  const { turn } = state
  if (turn.phase === 'idle') return []
  // A complete answer is done, although its Stop hooks may not have been asked.
  const isDone = cause !== 'aborted' && isAnswered(state)
  const reason = cause === 'aborted' ? 'aborted' : isDone ? 'done' : 'interrupted'
  return [
    ...(reason === 'done' ? [] : cutAnswer(state, reason, draft ?? null)),
    ...openCalls(state).flatMap((call) => interruptCall(state, call, cause, children, printed?.get(call.id))),
    { type: 'turn.ended', turn: turn.number, reason },
  ]
}

/**
 * Recovers after a crash or a clean stop; nothing restarts by itself. Calls with an unknown result are settled as
 * interrupted, and the turn ends until it is continued. An open question keeps waiting and keeps its turn open, also that of
 * a subagent which a call waits for. Results of subagents wait as follow-ups.
 */
export function recover(state: SessionState, cause: 'crashed' | 'stopped', { draft, children = [] }: Left): Events {
  const isWaiting = (call: Call) => call.status === 'asked' || isChildWaiting(state, call.id, children)
  const open = openCalls(state)
  if (!open.some(isWaiting))
    return [...abandonTurn(state, cause, { draft }, children), ...queueResults(state, children)]
  const settled = open.filter((call) => !isWaiting(call)).flatMap((call) => interruptCall(state, call, cause, children))
  return [...settled, ...queueResults(state, children)]
}

function cutAnswer(state: SessionState, finish: 'aborted' | 'interrupted', draft: Draft | null): Events {
  if (state.turn.phase !== 'thinking') return []
  const { number: turn, step } = state.turn
  const spoken = draft?.step === step ? saidEvents(state, step, draft.parts, true) : []
  return [...spoken, { type: 'step.ended', turn, step, finish, usage: null }]
}

/** Settles a call that was cut short. If its subagent has ended, its result counts. */
function interruptCall(
  state: SessionState,
  call: Call,
  cause: Cause,
  children: readonly FoundChild[],
  printed?: string,
): Events {
  const found = childOutcome(state, call.id, children)
  const child = childOf(state, call.id)
  const end = children.find(({ session }) => session === child?.session)?.end
  const touched = end ? filesOf(call.id, end) : []
  if (found) return [found.ended, settle(call.id, found.outcome), ...touched]
  const status = cause === 'aborted' ? 'aborted' : 'interrupted'
  const ended: Events = child ? [{ type: 'child.ended', call: call.id, child: child.session, status }] : []
  return [...ended, ...interrupt(call, cause, end?.output.text ?? printed), ...touched]
}

function interrupt(call: Call, cause: Cause, printed?: string): Events {
  const { id, status } = call
  if (status !== 'started') return [settle(id, { type: 'interrupted', code: 'cancelled' })]
  const outcome = { type: 'interrupted', code: cause, ...(printed && { output: { text: printed } }) } as const
  return [...withdrawQuestion(call), settle(id, outcome)]
}
