import type { Meta } from '@holdfast/protocol'
import { useKey } from '../keys/use-key.ts'
import { useShared } from '../screens/use-screens.ts'
import { topWaiting } from '../screens/waiting.ts'
import { goTo } from '../ui/route.ts'
import type { ListRow } from './list-rows.ts'

/** Goes to the next or previous session of the list, or of those that wait. */
export function useSessionKeys(rows: readonly ListRow[], current: string | null, onLeave: () => void): void {
  const waiting = useShared(({ waiting }) => waiting)
  const open = (meta: Meta | undefined): boolean => {
    if (!meta) return false
    goTo(
      meta.subagent && meta.parent
        ? { at: 'session', name: meta.parent, child: meta.id }
        : { at: 'session', name: meta.id },
    )
    onLeave()
    return true
  }
  const listed = () => rows.flatMap((row) => (row.kind === 'session' ? [row.meta] : []))
  useKey('nextSession', () => open(beside(listed(), current, 1, false)))
  useKey('previousSession', () => open(beside(listed(), current, -1, false)))
  useKey('nextWaiting', () => open(beside(topWaiting(waiting), current, 1, true)), waiting.size > 0)
  useKey('previousWaiting', () => open(beside(topWaiting(waiting), current, -1, true)), waiting.size > 0)
}

/** Returns the session after or before the current one; from the start or the end if that is not listed. */
export function beside<One extends { readonly id: string }>(
  sessions: readonly One[],
  current: string | null,
  step: 1 | -1,
  isRound: boolean,
): One | undefined {
  const at = sessions.findIndex(({ id }) => id === current)
  if (at < 0) return sessions.at(step > 0 ? 0 : -1)
  const next = at + step
  return isRound ? sessions.at(next % sessions.length) : next < 0 ? undefined : sessions[next]
}
