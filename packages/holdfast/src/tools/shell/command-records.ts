import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProcessMark, SessionId } from '@holdfast/protocol'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { isRunning, markOf, markProcess, markValue } from '../program/process-group.ts'

/*
 * The commands in the background whose end the model does not know yet, on disk: if their process ends, the next one tells it.
 * A record is a file; its name holds the mark of the process that owns the command.
 */
const suffix = '.command'
const keptMs = 30 * 24 * 3600 * 1000

const RecordedCommand = z.object({ session: SessionId, id: z.string(), command: z.string() })
type RecordedCommand = z.infer<typeof RecordedCommand>

/** A command on record, with the file that is its record. */
export type CommandRecord = RecordedCommand & { readonly path: string }

/** Creates the records of this process, in a directory that all processes of a user share. */
export function createCommandRecords(directory: string) {
  let owner: Promise<ProcessMark> | null = null
  const pathOf = async ({ session, id }: Pick<RecordedCommand, 'session' | 'id'>) => {
    owner ??= markProcess(process.pid)
    return join(directory, `${encodeURIComponent(markValue(await owner))}+${session}+${id}${suffix}`)
  }
  return {
    /** Records a command that has started. */
    async add({ session, id, command }: RecordedCommand): Promise<CommandRecord> {
      ensurePrivateDirectory(directory)
      const path = await pathOf({ session, id })
      await writeFile(path, JSON.stringify({ session, id, command }), { mode: 0o600 })
      return { session, id, command, path }
    },
    /** Forgets a command: the model knows of its end. */
    remove: (path: string): Promise<void> => rm(path, { force: true }),
    /** Whether no other process has told the model of its end meanwhile. */
    isOnRecord: ({ path }: CommandRecord): boolean => existsSync(path),
    /** Reads the commands whose process is dead. Old records are removed: their session may be gone. */
    async ofDeadProcesses(nowMs: number): Promise<readonly CommandRecord[]> {
      const found: CommandRecord[] = []
      for (const name of await readdir(directory).catch(() => [])) {
        const mark = name.endsWith(suffix) ? markOf(name.split('+', 1)[0] ?? '') : null
        if (mark === null || (await isRunning(mark))) continue
        const path = join(directory, name)
        const read = await readRecord(path)
        const isOld = ((await stat(path).catch(() => null))?.mtimeMs ?? 0) < nowMs - keptMs
        if (read !== null && !isOld) found.push({ ...read, path })
        else await rm(path, { force: true })
      }
      return found
    },
  }
}

export type CommandRecords = ReturnType<typeof createCommandRecords>

async function readRecord(path: string): Promise<RecordedCommand | null> {
  try {
    return RecordedCommand.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return null // half written when the process was killed
  }
}
