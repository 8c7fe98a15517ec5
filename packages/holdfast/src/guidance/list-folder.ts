import type { Dirent } from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findStats } from '../system/files/fast-stat.ts'
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
export const exists = async (path: string): Promise<boolean> => (await findStats(path)) !== null

/** Returns whether there is a folder of guidance. Asks first for the folder that it is in: several are in the same. */
export const existsIn = async (path: string): Promise<boolean> => (await exists(dirname(path))) && exists(path)

/** Returns the path without links; null if there is nothing. */
export async function realOrNull(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}
