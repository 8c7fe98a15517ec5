import { type Content, type Event, fault, ok, type Queue, type Result, refuse, TurnNumber } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'
import { overBudget } from './budget.ts'
import { emptyPrompt, enqueue, isEmpty } from './queue.ts'

/** Starts a turn when idle; otherwise queues the prompt. */
export function sendPrompt(state: SessionState, content: Content, queue: Queue): Result<readonly Event[]> {
  if (isEmpty(content)) return refuse(emptyPrompt)
  if (state.turn.phase !== 'idle') return enqueue(state, queue, content)
  const spent = overBudget(state)
  if (spent) return refuse(spent)
  const turn = TurnNumber.parse(state.turns)
  return ok([
    { type: 'turn.started', turn, cause: 'prompt' },
    { type: 'user.said', turn, content },
  ])
}

/** Continues an interrupted turn under the same number. */
export function continueTurn(state: SessionState): Result<readonly Event[]> {
  const { turn } = state
  if (turn.phase !== 'idle') return refuse(turnRunning)
  if (turn.last === null || turn.last.reason === 'done') {
    return refuse(fault('nothing_to_continue', 'The last turn came to its end. Send a prompt instead.'))
  }
  const spent = overBudget(state)
  if (spent) return refuse(spent)
  return ok([{ type: 'turn.started', turn: turn.last.number, cause: 'continue' }])
}

export const turnRunning = fault('turn_running', 'A turn is running. Wait for it, or abort it.')
