import { type ClientId, type Event, isOnLine, type Mode } from '@holdfast/protocol'
import { askedCalls, type Pin, type SessionState } from '../state.ts'

/** Plan mode takes back every open question: what it asked for may not happen there. */
export function enterMode(
  state: SessionState,
  mode: Mode,
  by: ClientId | null,
  keepPlan = false,
  found: Pin | null = null,
): readonly Event[] {
  const { pins } = state
  // Where the session has moved to another line, only who read that line knows its last answer.
  const lastAnswer = state.lastAnswer ?? (found && isOnLine(state.line, found.message) ? found : null)
  const isPinned = pins.some(({ message }) => message === lastAnswer?.message)
  const kept: Event[] =
    keepPlan && lastAnswer && !isPinned ? [{ type: 'message.pinned', ...lastAnswer, pinned: true }] : []
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
