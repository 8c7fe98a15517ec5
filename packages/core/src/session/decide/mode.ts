import { type ClientId, type Event, isOnLine, type Mode } from '@holdfast/protocol'
import { askedCalls, type Pin, type SessionState } from '../state.ts'

/** Changes the mode. Entering plan mode cancels every open question. */
export function enterMode(
  state: SessionState,
  mode: Mode,
  by: ClientId | null,
  keepPlan = false,
  found: Pin | null = null,
): readonly Event[] {
  const { pins } = state
  // After a move to another line, the last answer is found by reading that line.
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
