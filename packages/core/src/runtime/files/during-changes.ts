import type { Seq } from '@holdfast/protocol'
import type { PathChange } from './path-change.ts'

/**
 * Puts the changes of one path in a row in which each begins where the one before it ended. What a command in the background
 * changed is recorded at its end, and from its start on: what other calls found and left meanwhile is a part of it. A command
 * that began before `after`, or before the end of another call, goes on with what that call left.
 */
export function settleDuring(changes: readonly PathChange[], after: Seq): readonly PathChange[] {
  let settled: readonly PathChange[] = []
  for (const change of changes) {
    const { isDuring, call } = change
    if (!isDuring || call === null) settled = [...settled, change]
    else if (call > after)
      settled = goOn(
        settled.filter((one) => startOf(one) < call),
        change,
        call,
      )
    // Without another change since then, it may have happened before.
    else if (settled.length > 0) settled = goOn(settled, change, call)
  }
  return settled
}

const startOf = ({ call, seq }: PathChange): Seq => call ?? seq

function goOn(earlier: readonly PathChange[], change: PathChange, call: Seq): readonly PathChange[] {
  const last = earlier.at(-1)
  if (!last?.after || last.seq < call) return [...earlier, change]
  const { after } = last
  const before = after.type === 'file' ? { ...after, mode: after.mode ?? modeIfUnrecorded } : after
  return [...earlier, { ...change, before }]
}

/** Any value does: a mode that was not recorded equals every mode. */
const modeIfUnrecorded = 0o644
