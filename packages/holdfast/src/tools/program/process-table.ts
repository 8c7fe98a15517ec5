import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** A row of Linux's process table. */
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
/** How many processes are looked at together. */
const atOnce = 16
/** How often, and how long apart, an environment is read while a process is replacing its program. */
const readsMax = 20
const readAgainMs = 1

/** Set in the environment of a command, so that its processes can be found when the leader is gone. */
export const markEntry = 'AGENT_PROCESS_MARK'

/** Reads one row of the table; null if there is no such process or no such table. */
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

/** Returns the live processes. Many commands end at once when a session is stopped: those who ask together share a read. */
export const livingProcesses = createSharedWork(async (): Promise<readonly ProcessRow[]> => {
  const names = await readdir('/proc').catch(() => [])
  const rows = await mapSome(
    names.filter((name) => /^\d+$/.test(name)),
    (name) => readProcess(Number(name)),
  )
  return rows.filter((row) => row !== null).filter((row) => !row.isDead)
})

type MarkedProcess = { readonly row: ProcessRow; readonly mark: string }

/** Returns the live processes that commands of ours started, each with its mark. Concurrent callers share one read. */
export const markedProcesses = createSharedWork(async (): Promise<readonly MarkedProcess[]> => {
  const own = (await livingProcesses()).filter(({ isKernel }) => !isKernel)
  const found = await mapSome(own, async (row) => {
    const entries = (await readEnvironment(row.pid)).split('\0')
    const entry = entries.find((one) => one.startsWith(`${markEntry}=`))
    return entry === undefined ? null : { row, mark: entry.slice(markEntry.length + 1) }
  })
  return found.filter((one) => one !== null)
})

/** Reads the environment a process was started with. It is empty for a moment while `exec` replaces the program. */
async function readEnvironment(pid: number): Promise<string> {
  for (let read = 0; read < readsMax; read++) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => null)
    if (environment !== '') return environment ?? ''
    await delay(readAgainMs)
  }
  return ''
}

/** Maps a list, a few items at a time: each read takes a buffer and a slice. */
async function mapSome<Item, Value>(
  items: readonly Item[],
  map: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const values: Value[] = []
  for (let from = 0; from < items.length; from += atOnce)
    values.push(...(await Promise.all(items.slice(from, from + atOnce).map(map))))
  return values
}

/**
 * Makes work that many ask for run once for all of them. Who asks while it runs gets the next run: the result is never
 * older than the question.
 */
export function createSharedWork<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting: Promise<Value> | null = null
  return () => {
    if (waiting) return waiting
    waiting = last.then(() => {
      waiting = null
      return work()
    })
    last = waiting.catch(() => undefined) // those who asked get the error; the next run must not
    return waiting
  }
}
