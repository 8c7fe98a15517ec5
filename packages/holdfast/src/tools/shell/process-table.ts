import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

export type ProcessRow = {
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

/** One row of Linux's process table, or null when there is no such process, or no such table. */
export async function readProcess(pid: number): Promise<ProcessRow | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // The name stands in brackets and may itself hold brackets and blanks: fields are counted from the last one.
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

/** The living processes that were started with this entry in their environment, wherever they went since. */
export async function livingWithEntry(entry: string): Promise<readonly ProcessRow[]> {
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
