import { type Event, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Facts } from '../input.ts'
import { closedAt, goingOn } from '../line.ts'
import type { SessionState } from '../state.ts'

/** Notes that another session shares our past: its name is on record before it is made, so that asking again makes one. */
export function fork({ line }: SessionState, { end, fork: id }: Facts): Result<readonly Event[]> {
  if (!end || id === undefined) {
    return refuse(fault('turn_not_found', 'There is no such turn on this line that has ended.'))
  }
  const shared = goingOn(closedAt(line, end.seq), end.seq + 1)
  return ok([{ type: 'session.forked', fork: id, base: end.seq, line: shared }])
}
