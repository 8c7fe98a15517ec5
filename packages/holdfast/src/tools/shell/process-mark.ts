import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { ProcessMark } from '@holdfast/protocol'
import { readProcess } from './process-table.ts'

const run = promisify(execFile)

/** Names a process so that no later one with the same number is taken for it. */
export async function markProcess(pid: number): Promise<ProcessMark> {
  return { group: pid, startedAt: (await startOf(pid)) ?? 'unknown' }
}

/** When a process began, told so that it differs from every other of the same number; null when there is none. */
export async function startOf(pid: number): Promise<string | null> {
  const bootId = await readBootId()
  if (bootId === null) return startFromPs(pid)
  const row = await readProcess(pid)
  return row === null ? null : `${bootId}/${row.startTicks}`
}

/** Changes with each start of the machine; null where the system has no such thing. */
export async function readBootId(): Promise<string | null> {
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null)
  return bootId?.trim() ?? null
}

async function startFromPs(pid: number): Promise<string | null> {
  const listed = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: { LC_ALL: 'C', TZ: 'UTC' } }).catch(
    () => null,
  )
  const start = listed?.stdout.trim() ?? ''
  return start === '' ? null : start
}

/** Handed down in the environment of a command, so that what it starts can be known again when its leader is gone. */
export const markEntry = 'AGENT_PROCESS_MARK'
export const markValue = ({ group, startedAt }: ProcessMark): string => `${group}/${startedAt}`
