import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryPath } from '../../disk.ts'

/** Replaces a file atomically: writes a temporary file, syncs it, renames it, and syncs the directory. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = await writeTemporaryFile(path, text)
  try {
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(dirname(path))
}

/** Writes and syncs a temporary file for `path`; returns its own path. */
export async function writeTemporaryFile(path: string, text: string): Promise<string> {
  const temporary = temporaryPath(path)
  try {
    await using file = await open(temporary, 'wx', 0o600)
    await file.chmod(0o600) // whatever the umask
    await file.writeFile(text)
    await file.sync()
    return temporary
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Reads a text file; returns null if it does not exist. */
export async function readTextIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Reads a JSON file; returns null if it does not exist or is not JSON. No such file is essential. */
export async function readJsonIfExists(path: string): Promise<unknown> {
  const text = await readTextIfExists(path)
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns a function that makes the names in a directory durable. Calls during a sync share the next one. */
export function createDirectorySync(directory: string): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return () => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        running = syncDirectory(directory)
        next = null
        return running
      })
    return next
  }
}
