import type { CallId, EventOf, Seq } from '@holdfast/protocol'
import type { Call, Turn } from './state.ts'

/** Adds what a hook did to a call. */
export function hooked(turn: Turn, id: CallId, change: Pick<Call, 'rewritten' | 'permission' | 'told'>): Turn {
  if (turn.phase !== 'acting') return turn
  return { ...turn, calls: turn.calls.map((call) => (call.id === id ? { ...call, ...change } : call)) }
}

/** Remembers what a hook wants of the running turn. Those after the turn change nothing. */
export function afterHook(turn: Turn, seq: Seq, ran: EventOf<'hook.ran'>): Turn {
  if (turn.phase === 'idle') return turn
  const stopped: Turn = ran.stop === undefined ? turn : { ...turn, stop: ran.stop }
  if (ran.event === 'PreToolUse') return afterPreToolUse(stopped, seq, ran)
  const isStop = ran.event === 'Stop' || ran.event === 'SubagentStop'
  const goesOn = isStop && ran.outcome === 'blocked' && stopped.phase === 'preparing'
  return goesOn ? { ...stopped, isAnswered: false, goneOn: (stopped.goneOn ?? 0) + 1 } : stopped
}

function afterPreToolUse(turn: Turn, seq: Seq, { about, hook, permission, context }: EventOf<'hook.ran'>): Turn {
  const call = turn.phase === 'acting' ? turn.calls.find(({ id }) => id === about) : undefined
  if (call === undefined) return turn
  // A question beats an allowance, whichever hook came first.
  const isNew = permission !== undefined && call.permission?.verdict !== 'ask'
  return hooked(turn, call.id, {
    ...(isNew && { permission: { verdict: permission, by: hook } }),
    ...(context !== undefined && { told: [...(call.told ?? []), seq] }),
  })
}

/** Forgets how often Stop hooks made the turn go on: a person has spoken. */
export function withoutGoingOn(turn: Turn): Turn {
  if (turn.phase === 'idle' || turn.goneOn === undefined) return turn
  const { goneOn: _, ...rest } = turn
  return rest
}
