import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProcessMark, SessionId } from '@holdfast/protocol'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { isRunning, markOf, markProcess, markValue } from '../program/process-group.ts'

/** The directories that are `/tmp` for the sandboxed commands of a session. Each ends with its session or this process. */
export interface SessionTmp {
  /** Returns the directory of a session, and makes it if needed. */
  of(session: SessionId): Promise<string>
  /** Removes the directory of a session, or all of this process. */
  remove(session?: SessionId): Promise<void>
  /** Removes those of processes that are dead. */
  removeLeftovers(): Promise<void>
}

/** Keeps the directories in one that all processes of a user share, below the mark of the process that made them. */
export function createSessionTmp(directory: string): SessionTmp {
  let mark: Promise<ProcessMark> | null = null
  const ownDirectory = async () => {
    mark ??= markProcess(process.pid)
    return join(directory, encodeURIComponent(markValue(await mark)))
  }
  return {
    async of(session) {
      ensurePrivateDirectory(directory)
      const path = join(await ownDirectory(), session)
      await mkdir(path, { recursive: true, mode: 0o700 })
      return path
    },
    async remove(session) {
      const own = await ownDirectory()
      await rm(session === undefined ? own : join(own, session), { recursive: true, force: true })
    },
    async removeLeftovers() {
      for (const name of await readdir(directory).catch(() => [])) {
        const owner = markOf(name)
        if (owner !== null && !(await isRunning(owner)))
          await rm(join(directory, name), { recursive: true, force: true })
      }
    },
  }
}
