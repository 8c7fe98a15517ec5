import type { CallId, Event, HookRun } from '@holdfast/protocol'
import type { Events, ReportOf } from '../input.ts'
import { findCall, type SessionState } from '../state.ts'
import { turnNow } from './message.ts'

/** How often in a row Stop hooks can make a turn go on. */
const goneOnMax = 8

/** Records hooks that ran, with the call they were about. */
export const hooksRan = (state: SessionState, runs: readonly HookRun[] = [], about?: CallId): Events =>
  runs.map(
    (run): Event => ({
      type: 'hook.ran',
      turn: turnNow(state),
      ...(about !== undefined && { about }),
      ...run,
    }),
  )

/** Records hooks that ran, and the arguments they gave a call that is not judged yet. */
export function recordHooks(state: SessionState, { runs, call, args }: ReportOf<'hooks.ran'>): Events {
  const isOpen = call !== undefined && findCall(state, call)?.status === 'requested'
  const rewritten: Events =
    isOpen && args ? [{ type: 'call.rewritten', call, args: { ...args.value }, hook: args.by }] : []
  return [...hooksRan(state, runs, call), ...rewritten]
}

/**
 * Returns what the Stop hooks of an answered turn lead to. One that blocks makes the model go on with its reason, unless the
 * turn has gone on too often. Null if the turn ends.
 */
export function goOn(state: SessionState, { turn, hooks }: ReportOf<'turn.finishing'>): Events | null {
  if (state.turn.phase !== 'preparing' || hooks === null || hooks.block === null || hooks.stop !== null) return null
  if ((state.turn.goneOn ?? 0) >= goneOnMax) return null
  const text = `A Stop hook asks you to go on: ${hooks.block}`
  return [
    ...hooksRan(state, hooks.runs),
    { type: 'note.added', turn, kind: 'system', level: 'info', code: 'stop_hook', text, told: true },
  ]
}

/** Says that a Stop hook was not followed: it could keep a turn from ending for ever. */
export function tooOften(state: SessionState, { turn, hooks }: ReportOf<'turn.finishing'>): Events {
  if (hooks === null || hooks.block === null || hooks.stop !== null) return []
  const times = state.turn.phase === 'idle' ? 0 : (state.turn.goneOn ?? 0)
  const text = `Stop hooks made this turn go on ${times} times in a row, so it ends now. The last reason: ${hooks.block}`
  return [{ type: 'note.added', turn, kind: 'notice', level: 'info', code: 'stop_hook_limit', text }]
}

/** Ends a turn because a hook asked for it. It can be continued. */
export function stoppedByHook({ turn }: SessionState): Events | null {
  if (turn.phase === 'idle' || turn.stop === undefined) return null
  const { number } = turn
  const text = `A hook ended the turn: ${turn.stop}`
  return [
    { type: 'note.added', turn: number, kind: 'notice', level: 'info', code: 'hook_stopped', text },
    { type: 'turn.ended', turn: number, reason: 'limit' },
  ]
}
