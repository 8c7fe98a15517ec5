import { type Event, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Facts } from '../input.ts'
import type { SessionState } from '../state.ts'
import { turnNow } from './message.ts'
import { turnRunning } from './turn-running.ts'

/** Notes where the summary was written; it was written outside, before this was decided. */
export function summarize(state: SessionState, { saved }: Facts): Result<readonly Event[]> {
  if (saved) return ok([{ type: 'summary.saved', turn: turnNow(state), ...saved }])
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  return refuse(fault('nothing_to_summarize', 'Nothing has been said here yet.'))
}
