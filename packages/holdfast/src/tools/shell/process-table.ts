import { readdir, readFile } from 'node:fs/promises'

export type ProcessRow = {
  readonly pid: number
  readonly group: number
  readonly name: string
  /** Clock ticks since boot. */
  readonly startTicks: string
  /** Dead and not yet collected by its parent: it runs nothing. */
  readonly isDead: boolean
}

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
  return { pid, group: Number(group), name, startTicks, isDead: 'ZXx'.includes(state) }
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
  const found = (await livingProcesses()).map(async (row) => {
    const environment = await readFile(`/proc/${row.pid}/environ`, 'utf8').catch(() => '')
    return environment.split('\0').includes(entry) ? row : null
  })
  return (await Promise.all(found)).filter((row) => row !== null)
}
