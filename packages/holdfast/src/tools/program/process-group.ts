import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ProcessMark } from '@holdfast/protocol'

type ProcessRow = {
  readonly pid: number
  readonly group: number
  readonly name: string
  /** Clock ticks since boot. */
  readonly startTicks: string
  /** Dead and not yet collected by its parent: it runs nothing. */
  readonly isDead: boolean
  /** A thread of the kernel: it has no environment. */
  readonly isKernel: boolean
}

/** The bit of a process's flags that marks a thread of the kernel: `PF_KTHREAD`. */
const kernelFlag = 0x0020_0000
/** How often, and how long apart, an environment is read while a process is replacing its program. */
const readsMax = 20
const readAgainMs = 1

/** Reads one row of Linux's process table; null if there is no such process or no such table. */
export async function readProcess(pid: number): Promise<ProcessRow | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // The name is in parentheses and may contain parentheses and spaces: count fields from the last one.
  const nameEnd = stat.lastIndexOf(')')
  const fields = stat.slice(nameEnd + 2).split(' ')
  const [state, , group] = fields
  const startTicks = fields[19] // field 22 of the whole line
  if (state === undefined || startTicks === undefined) return null
  const name = stat.slice(stat.indexOf('(') + 1, nameEnd)
  const isKernel = (Number(fields[6]) & kernelFlag) !== 0 // field 9 of the whole line
  return { pid, group: Number(group), name, startTicks, isDead: 'ZXx'.includes(state), isKernel }
}

async function livingProcesses(): Promise<readonly ProcessRow[]> {
  const names = await readdir('/proc').catch(() => [])
  const rows = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))))
  return rows.filter((row) => row !== null).filter((row) => !row.isDead)
}

export async function livingMembers(group: number): Promise<readonly ProcessRow[]> {
  return (await livingProcesses()).filter((row) => row.group === group)
}

/** Returns the live processes that a command started, inside its group or not. */
async function livingOffspring(mark: ProcessMark): Promise<readonly ProcessRow[]> {
  const entry = `${markEntry}=${markValue(mark)}`
  const found = (await livingProcesses()).map(async (row) =>
    !row.isKernel && (await readEnvironment(row.pid)).split('\0').includes(entry) ? row : null,
  )
  return (await Promise.all(found)).filter((row) => row !== null)
}

/** Reads the environment a process was started with. It is empty for a moment while `exec` replaces the program. */
async function readEnvironment(pid: number): Promise<string> {
  for (let read = 0; read < readsMax; read++) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => null)
    if (environment !== '') return environment ?? ''
    await delay(readAgainMs)
  }
  return ''
}

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

/** Set in the environment of a command, so that its processes can be found when the leader is gone. */
export const markEntry = 'AGENT_PROCESS_MARK'
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
 * Returns a sentence on the processes that left the group and still run: we report them and do not kill them. It names no
 * arguments, which may contain secrets. Call it once the group is dead, because until then members may still leave.
 */
export async function tellEscaped(mark: ProcessMark): Promise<string | undefined> {
  const left = (await livingOffspring(mark)).filter(({ group }) => group !== mark.group)
  if (left.length === 0) return undefined
  const rows = left.slice(0, namedMax).map(({ pid, name }) => `${pid} (${name.replaceAll(/\p{Cc}/gu, '?')})`)
  const more = left.length > namedMax ? ` and ${left.length - namedMax} more` : ''
  return `still running outside its process group: ${rows.join(', ')}${more}`
}

/** Returns whether the process of a mark still runs. */
export const isRunning = async (mark: ProcessMark): Promise<boolean> => (await startOf(mark.group)) === mark.startedAt
