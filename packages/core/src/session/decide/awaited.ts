import { type CallId, type Event, isOnLine, type Outcome } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

export const settledAs = (call: CallId, outcome: Outcome): Event => ({
  type: 'call.settled',
  call,
  outcome,
  durationMs: null,
})

/**
 * Nobody waits for a result any more once a turn of the session's own begins, or the line with its call is left: each call
 * settles once, so it is settled then.
 */
export function withoutAwaited({ awaited }: SessionState, events: readonly Event[]): readonly Event[] {
  if (awaited.length === 0) return events
  const settled = new Set(events.flatMap((event) => (event.type === 'call.settled' ? [event.call] : [])))
  const isOver = (call: CallId) =>
    events.some(
      (event) =>
        (event.type === 'turn.started' && event.cause !== 'seed') ||
        (event.type === 'line.moved' && !isOnLine(event.to, call)),
    )
  const over = awaited.filter(({ call }) => !settled.has(call) && isOver(call))
  return [...events, ...over.map(({ call }) => settledAs(call, { type: 'interrupted', code: 'cancelled' }))]
}
