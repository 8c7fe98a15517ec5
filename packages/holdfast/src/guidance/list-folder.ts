import { type Dirent, stat } from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { systemErrorCode } from '../system/system-error.ts'

/** Returns what a folder has, sorted by name; nothing if it is no folder. At most `max` entries are read. */
export async function listFolder(path: string, max: number): Promise<readonly Dirent[]> {
  const entries: Dirent[] = []
  try {
    for await (const entry of await opendir(path)) {
      if (entries.length >= max) break
      entries.push(entry)
    }
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return []
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1)) // the order of the disk must change nothing
}

/** Returns whether there is anything at a path: each step asks for files and folders that hardly ever exist. */
export const exists = (path: string): Promise<boolean> =>
  new Promise((resolve) => stat(path, (error) => resolve(error === null))) // a rejected promise would cost more

/** Returns the path without links; null if there is nothing. */
export async function realOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}
