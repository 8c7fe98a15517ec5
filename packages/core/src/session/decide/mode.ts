import type { Event, Mode } from '@holdfast/protocol'
import { askedCalls, type SessionState } from '../state.ts'

/** Plan mode takes back every open question: what it asked for may not happen there. */
export function enterMode(state: SessionState, mode: Mode): readonly Event[] {
  if (state.settings.mode === mode) return []
  const changed: Event = { type: 'settings.changed', mode }
  if (mode === 'exec') return [changed]
  const cancelled = askedCalls(state).map(
    ({ id: call }): Event => ({
      type: 'call.settled',
      call,
      outcome: { type: 'interrupted', code: 'cancelled' },
      durationMs: null,
    }),
  )
  return [changed, ...cancelled]
}
