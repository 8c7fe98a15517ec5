import { type CallId, type Event, isOnLine, messagesAfter, type Outcome, tokensAfter } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

export const settledAs = (call: CallId, outcome: Outcome): Event => ({
  type: 'call.settled',
  call,
  outcome,
  durationMs: null,
})

/**
 * Settles calls whose program will not report a result any more: a turn of the session began, or the line with the call
 * was left.
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

/** Adds the length of the line to each end of a turn, so that a later branch need not count. */
export function withLengths({ messages, tokens }: SessionState, events: readonly Event[]): readonly Event[] {
  let length = { messages, tokens }
  return events.map((event) => {
    length = { messages: messagesAfter(length.messages, event), tokens: tokensAfter(length.tokens, event) }
    return event.type === 'turn.ended' ? { ...event, ...length } : event
  })
}
