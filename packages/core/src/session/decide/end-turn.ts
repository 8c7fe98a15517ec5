import { type Event, TurnNumber } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

/** The turn came to its end; the oldest follow-up, if one waits, is the next. */
export function endTurn(state: SessionState, turn: TurnNumber): readonly Event[] {
  const next = state.queue.find(({ queue }) => queue === 'follow_up')
  const ended: Event = { type: 'turn.ended', turn, reason: 'done' }
  if (!next) return [ended]
  const number = TurnNumber.parse(state.turns)
  return [
    ended,
    { type: 'turn.started', turn: number, cause: 'follow_up' },
    { type: 'user.said', turn: number, content: next.content, entry: next.id },
  ]
}
