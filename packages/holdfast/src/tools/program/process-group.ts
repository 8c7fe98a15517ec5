import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { ProcessMark } from '@holdfast/protocol'
import { livingProcesses, markedProcesses, type ProcessRow, readProcess } from './process-table.ts'

export async function livingMembers(group: number): Promise<readonly ProcessRow[]> {
  return (await livingProcesses()).filter((row) => row.group === group)
}

/** Returns the live processes that a command started, inside its group or not. */
const livingOffspring = async (mark: ProcessMark): Promise<readonly ProcessRow[]> =>
  (await markedProcesses()).flatMap((one) => (one.mark === markValue(mark) ? [one.row] : []))

const run = promisify(execFile)

/** Returns a mark that tells a process from a later one with the same pid. */
export async function markProcess(pid: number): Promise<ProcessMark> {
  return { group: pid, startedAt: (await startOf(pid)) ?? 'unknown' }
}

/** Returns when a process started, unique per pid, or null if there is no such process. */
async function startOf(pid: number): Promise<string | null> {
  const bootId = await readBootId()
  if (bootId === null) return startFromPs(pid)
  const row = await readProcess(pid)
  return row === null ? null : `${bootId}/${row.startTicks}`
}

/** Reads the id that changes with each boot; null where the system has none. */
async function readBootId(): Promise<string | null> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (id) => id.trim(),
    () => null,
  )
}

async function startFromPs(pid: number): Promise<string | null> {
  const listed = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: { LC_ALL: 'C', TZ: 'UTC' } }).catch(
    () => null,
  )
  return listed?.stdout.trim() || null
}

export const markValue = ({ group, startedAt }: ProcessMark): string => `${group}/${startedAt}`

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return '' // somebody else's file
  }
}

/** Reads a mark from an encoded name of a file; null if it is none. */
export function markOf(name: string): ProcessMark | null {
  const [, group, startedAt] = /^(\d{1,10})\/(.+)$/.exec(decoded(name)) ?? []
  return group !== undefined && startedAt !== undefined && Number(group) >= 2
    ? { group: Number(group), startedAt }
    : null
}

const namedMax = 20

/** Signals every member of a group. Does nothing if the group is gone. */
export function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))) throw error
  }
}

/**
 * Asks every member of a group to end, except the programs of this name: bubblewrap does not pass SIGTERM on, and when it
 * ends, its command is killed at once.
 */
export async function terminateGroup(group: number, except: string): Promise<void> {
  for (const { pid, name } of await livingMembers(group)) {
    if (name === except) continue
    try {
      process.kill(pid, 'SIGTERM')
    } catch {
      // It ended meanwhile.
    }
  }
}

/**
 * Kills the command that a dead process of ours left running. Group ids are reused, so the group is signalled only if its
 * leader started when ours did, or a member carries our mark.
 */
export async function endLeftover(mark: ProcessMark): Promise<void> {
  const start = await startOf(mark.group)
  if (start !== null) {
    if (start === mark.startedAt) signalGroup(mark.group, 'SIGKILL')
    return
  }
  if ((await readBootId()) === null) return // without a process table the owners of the members are unknown
  const marked = new Set((await livingOffspring(mark)).map(({ pid }) => pid))
  const members = await livingMembers(mark.group)
  if (members.some(({ pid }) => marked.has(pid))) signalGroup(mark.group, 'SIGKILL')
}

/**
 * Returns a sentence on the processes that left the group and still run. Those of a command in the foreground are reported and
 * not killed; `endEscaped` kills those of a background command that is ended. It names no arguments, which may contain secrets. Call it once the group is dead, because until then members may still leave.
 */
export async function tellEscaped(mark: ProcessMark): Promise<string | undefined> {
  const left = (await livingOffspring(mark)).filter(({ group }) => group !== mark.group)
  if (left.length === 0) return undefined
  const rows = left.slice(0, namedMax).map(({ pid, name }) => `${pid} (${name.replaceAll(/\p{Cc}/gu, '?')})`)
  const more = left.length > namedMax ? ` and ${left.length - namedMax} more` : ''
  return `still running outside its process group: ${rows.join(', ')}${more}`
}

/** A killed process dies only when it is next scheduled. One that waits for a broken disk may not, so the wait is limited. */
const looksMax = 100

/** Waits until a killed group is dead. */
export async function untilDead(group: number): Promise<void> {
  for (let look = 0; look < looksMax; look++) if ((await livingMembers(group)).length === 0) return
}

/**
 * Kills the processes that a command started and that left its group, such as those of `setsid`. They are known by the mark in
 * their environment, so one that has removed it, and all where there is no process table, are not found.
 */
export async function endEscaped(mark: ProcessMark): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    const left = (await livingOffspring(mark)).filter(({ group }) => group !== mark.group)
    if (left.length === 0) return
    for (const { pid, startTicks } of left) {
      if ((await readProcess(pid))?.startTicks !== startTicks) continue // its number may be that of another process by now
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended meanwhile, or belongs to another user.
      }
    }
  }
}

/** Returns whether the process of a mark still runs. */
export const isRunning = async (mark: ProcessMark): Promise<boolean> => (await startOf(mark.group)) === mark.startedAt
