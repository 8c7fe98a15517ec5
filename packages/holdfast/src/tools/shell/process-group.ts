import type { ProcessMark } from '@holdfast/protocol'
import { markEntry, markValue, readBootId, startOf } from './process-mark.ts'
import { livingMembers, livingWithEntry, type ProcessRow } from './process-table.ts'

const namedMax = 20

/** Signals every member at once. A group that is gone is no failure: that is what was wanted. */
export function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error
  }
}

/**
 * Ends what a dead process of ours left running. The number of a group is given out again once the group is gone, so
 * it is signalled only while its leader began when ours did, or a member carries our mark.
 */
export async function endLeftover(mark: ProcessMark): Promise<void> {
  const start = await startOf(mark.group)
  if (start !== null) {
    if (start === mark.startedAt) signalGroup(mark.group, 'SIGKILL')
    return
  }
  if ((await readBootId()) === null) return // without a process table nobody can say whose the members are
  const marked = new Set((await livingOffspring(mark)).map(({ pid }) => pid))
  const members = await livingMembers(mark.group)
  if (members.some(({ pid }) => marked.has(pid))) signalGroup(mark.group, 'SIGKILL')
}

/** The living processes that came of a command, in its group or not. */
const livingOffspring = (mark: ProcessMark): Promise<readonly ProcessRow[]> =>
  livingWithEntry(`${markEntry}=${markValue(mark)}`)

/**
 * A sentence that names what left the process group and still runs: it is not ours to kill, but to tell. Processes are
 * named without their arguments, which may hold what must not be recorded. Asked once the group is dead: until then its
 * members may still leave.
 */
export async function tellEscaped(mark: ProcessMark): Promise<string | undefined> {
  const left = (await livingOffspring(mark)).filter(({ group }) => group !== mark.group)
  if (left.length === 0) return undefined
  const rows = left.slice(0, namedMax).map(({ pid, name }) => `${pid} (${name.replaceAll(/\p{Cc}/gu, '?')})`)
  const more = left.length > namedMax ? ` and ${left.length - namedMax} more` : ''
  return `still running outside its process group: ${rows.join(', ')}${more}`
}
