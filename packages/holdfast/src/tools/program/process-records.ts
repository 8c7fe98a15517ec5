import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProcessMark } from '@holdfast/protocol'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'
import { endEscaped, endLeftover, isRunning, markOf, markProcess, markValue } from './process-group.ts'

/*
 * The process groups that run in the background, on disk: a process that starts ends those whose owner is dead. A record is an
 * empty file; its name holds the mark of the owner and that of the group, so that it is there whole or not at all.
 */
const between = '+'
const suffix = '.process'

const nameOf = (owner: ProcessMark, mark: ProcessMark): string =>
  `${[owner, mark].map((one) => encodeURIComponent(markValue(one))).join(between)}${suffix}`

function marksOf(name: string): readonly [ProcessMark, ProcessMark] | null {
  if (!name.endsWith(suffix)) return null
  const [owner, mark] = name.slice(0, -suffix.length).split(between).map(markOf)
  return owner && mark ? [owner, mark] : null
}

/** The records of this process, in a directory that all processes of a user share. */
export function createProcessRecords(directory: string) {
  let owner: Promise<ProcessMark> | null = null
  const pathOf = async (mark: ProcessMark) => {
    owner ??= markProcess(process.pid)
    return join(directory, nameOf(await owner, mark))
  }
  return {
    /** Resolves once the group is on record. */
    async add(mark: ProcessMark): Promise<void> {
      ensurePrivateDirectory(directory)
      await using file = await open(await pathOf(mark), 'w', 0o600)
      await file.sync()
      await syncDirectory(directory)
    },
    async remove(mark: ProcessMark): Promise<void> {
      await rm(await pathOf(mark), { force: true })
    },
    /** Ends the groups whose owner is dead, with what left them, and removes their records. */
    async endLeftovers(): Promise<void> {
      for (const name of await readdir(directory).catch(() => [])) {
        const marks = marksOf(name)
        if (marks === null || (await isRunning(marks[0]))) continue
        await endLeftover(marks[1])
        await endEscaped(marks[1])
        await rm(join(directory, name), { force: true })
      }
    },
  }
}

export type ProcessRecords = ReturnType<typeof createProcessRecords>
