import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'

/**
 * Opens the directory of uploads that are being imported, and removes those of a server that was killed. The caller is
 * the only server of its home directory, so none of them is in use.
 */
export async function openSpoolDir(directory: string): Promise<string> {
  ensurePrivateDirectory(directory)
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true })
  return directory
}
