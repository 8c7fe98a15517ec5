import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryPath } from '../../temporary-path.ts'

/** Puts a whole file in the place of another: written under another name, synced, renamed, its name synced too. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = await writeTemporaryFile(path, text)
  try {
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncDirectory(dirname(path))
}

/** Writes and syncs a file that is to be renamed to `path`; returns where it is until then. */
export async function writeTemporaryFile(path: string, text: string): Promise<string> {
  const draft = temporaryPath(path)
  try {
    await using file = await open(draft, 'wx', 0o600)
    await file.chmod(0o600) // whatever the umask
    await file.writeFile(text)
    await file.sync()
    return draft
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** What a file holds; null when it is not there. */
export async function readTextIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** The same as JSON; null also when it is none: every such file can be done without. */
export async function readJsonIfExists(path: string): Promise<unknown> {
  const text = await readTextIfExists(path)
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** Makes the names in a directory durable; who asks while a sync runs shares the next one. */
export interface DirectorySync {
  sync(): Promise<void>
}

export function createDirectorySync(directory: string): DirectorySync {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return {
    sync() {
      next ??= running
        .catch(() => undefined)
        .then(() => {
          running = syncDirectory(directory)
          next = null
          return running
        })
      return next
    },
  }
}
