import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ProcessMark } from '@holdfast/protocol'
import { openDirectory } from '../../system/files/open-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { isRunning, markOf, markProcess, markValue } from '../program/process-group.ts'

/**
 * A path that commands must not create. Holdfast creates a harmless file or folder there, so that it can be mounted over.
 */
export type Placeholder = {
  readonly path: string
  /** The content of a file; null for an empty folder. */
  readonly content: string | null
}

/** Keeps placeholders in place while commands run that must not take their names. */
export interface Placeholders {
  /**
   * Creates missing placeholders. Returns those that exist now, and a function that removes them after the last command.
   * Never replaces another program's file.
   */
  make(wanted: readonly Placeholder[]): Promise<{ readonly made: readonly Placeholder[]; release(): Promise<void> }>
  /** Removes those of processes that are dead. */
  removeLeftovers(): Promise<void>
}

const suffix = '.placeholder'
const between = '+'

/** Creates the registry. Records are shared by all processes of the user. */
export function createPlaceholders(directory: string | undefined): Placeholders {
  const users = new Map<string, number>()
  let owner: Promise<ProcessMark> | null = null

  async function recordOf({ path }: Placeholder): Promise<string | null> {
    if (directory === undefined) return null
    owner ??= markProcess(process.pid)
    const hash = createHash('sha256').update(path).digest('hex').slice(0, 32)
    return join(directory, `${encodeURIComponent(markValue(await owner))}${between}${hash}${suffix}`)
  }

  async function add(one: Placeholder): Promise<boolean> {
    users.set(one.path, (users.get(one.path) ?? 0) + 1)
    const record = await recordOf(one)
    if (directory !== undefined && record !== null) {
      ensurePrivateDirectory(directory)
      await writeFile(record, JSON.stringify(one), { mode: 0o600 })
    }
    return putDown(one)
  }

  async function release(one: Placeholder): Promise<void> {
    const left = (users.get(one.path) ?? 1) - 1
    if (left > 0) return void users.set(one.path, left)
    users.delete(one.path)
    const record = await recordOf(one)
    if (record !== null) await rm(record, { force: true })
    if (!(await isUsedElsewhere(one))) await takeAway(one)
  }

  /** Whether another living process has it on record. */
  async function isUsedElsewhere({ path }: Placeholder): Promise<boolean> {
    const found = await records()
    return found.some(({ placeholder, isAlive }) => placeholder.path === path && isAlive)
  }

  async function records() {
    const names = directory === undefined ? [] : await readdir(directory).catch(() => [])
    const read = names
      .filter((name) => name.endsWith(suffix))
      .map(async (name) => {
        const file = join(directory ?? '', name)
        const mark = markOf(name.slice(0, name.indexOf(between)))
        const placeholder = parse(await readFile(file, 'utf8').catch(() => ''))
        const isAlive = mark !== null && (await isRunning(mark))
        return placeholder === null ? [] : [{ file, placeholder, isAlive }]
      })
    return (await Promise.all(read)).flat()
  }

  return {
    async make(wanted) {
      const made: Placeholder[] = []
      for (const one of wanted) if (await add(one)) made.push(one)
      return {
        made,
        async release() {
          for (const one of wanted) await release(one)
        },
      }
    },
    async removeLeftovers() {
      const found = await records()
      const used = new Set(found.filter(({ isAlive }) => isAlive).map(({ placeholder }) => placeholder.path))
      for (const { file, placeholder, isAlive } of found) {
        if (isAlive) continue
        if (!used.has(placeholder.path)) await takeAway(placeholder)
        await rm(file, { force: true })
      }
    },
  }
}

/** Makes it if nothing is there. Returns whether it, or something like it, is there now. */
async function putDown({ path, content }: Placeholder): Promise<boolean> {
  const opened = await openDirectory(dirname(path), dirname(path)).catch(() => null)
  if (!opened?.ok) return false
  await using parent = opened.value
  const at = parent.at(basename(path))
  try {
    if (content === null) await mkdir(at)
    else await writeFile(at, content, { flag: 'wx' })
    return true
  } catch (error) {
    return systemErrorCode(error) === 'EEXIST'
  }
}

/** Removes it if it is still what was put there. */
async function takeAway({ path, content }: Placeholder): Promise<void> {
  const opened = await openDirectory(dirname(path), dirname(path)).catch(() => null)
  if (!opened?.ok) return
  await using parent = opened.value
  const at = parent.at(basename(path))
  if (content === null) {
    await rmdir(at).catch(() => undefined) // something was put into it; awaited, for the name leads through the open parent
    return
  }
  const found = await readFile(at, 'utf8').catch(() => null)
  if (found === content) await unlink(at).catch(() => undefined)
}

function parse(text: string): Placeholder | null {
  try {
    const { path, content } = JSON.parse(text)
    return typeof path === 'string' && (content === null || typeof content === 'string') ? { path, content } : null
  } catch {
    return null // it is being written
  }
}
