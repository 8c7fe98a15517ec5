import type { ClientId, Event, Mode } from '@holdfast/protocol'
import { askedCalls, type SessionState } from '../state.ts'

/** Plan mode takes back every open question: what it asked for may not happen there. */
export function enterMode(state: SessionState, mode: Mode, by: ClientId | null, keepPlan = false): readonly Event[] {
  const kept: Event[] =
    keepPlan && state.lastAnswer !== null && !state.pins.includes(state.lastAnswer)
      ? [{ type: 'message.pinned', message: state.lastAnswer, pinned: true }]
      : []
  if (state.settings.mode === mode) return kept
  const changed: Event = { type: 'settings.changed', mode }
  if (mode === 'exec') return [changed, ...kept]
  const cancelled = askedCalls(state).map(
    ({ id: call }): Event => ({
      type: 'call.settled',
      call,
      outcome: { type: 'interrupted', code: 'cancelled' },
      durationMs: null,
      by: { client: by },
    }),
  )
  return [changed, ...cancelled]
}
