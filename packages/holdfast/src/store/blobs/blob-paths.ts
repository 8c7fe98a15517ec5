import { mkdir, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobHash } from '@holdfast/protocol'
import { systemErrorCode } from '../../system/system-error.ts'

export const draftPrefix = 'new-'

/** The paths in a directory of blobs: 256 subdirectories, and one for the blobs that a sweep has set aside. */
export const createBlobPaths = (directory: string) => ({
  directory,
  asideDirectory: join(directory, 'aside'),
  blob: (hash: string): string => join(directory, hash.slice(0, 2), hash.slice(2)),
  aside: (hash: string): string => join(directory, 'aside', hash),
})

export type BlobPaths = ReturnType<typeof createBlobPaths>

/**
 * Restores a blob that was set aside, with a new time. Uses a rename: a concurrent sweep has either removed the file or
 * finds nothing to remove. Returns false if it was not there.
 */
export async function restoreBlob(paths: BlobPaths, hash: BlobHash, now: Date): Promise<boolean> {
  const aside = paths.aside(hash)
  return ignoreMissing(async () => {
    await utimes(aside, now, now)
    await mkdir(dirname(paths.blob(hash)), { recursive: true, mode: 0o700 })
    await rename(aside, paths.blob(hash))
  })
}

/** Runs `work` on a file. Returns false if the file does not exist. */
export async function ignoreMissing(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
}

export const exists = (path: string): Promise<boolean> => ignoreMissing(() => stat(path))
