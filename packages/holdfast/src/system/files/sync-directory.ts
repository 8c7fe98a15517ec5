import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

// Windows opens no directories, and NTFS journals names itself.
const needsNoSync = process.platform === 'win32'

/** Syncs a directory: a new name is durable only once its directory is. */
export async function syncDirectory(directory: string): Promise<void> {
  if (needsNoSync) return
  await using handle = await open(directory, 'r')
  await handle.sync()
}

/** The same, synchronous, for workers and for commands that exit. */
export function syncDirectorySync(directory: string): void {
  if (needsNoSync) return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
