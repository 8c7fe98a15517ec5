import { mkdir, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobHash } from '@holdfast/protocol'
import { findStats } from '../../system/files/fast-stat.ts'
import { ifExists } from '../disk.ts'

export const temporaryPrefix = 'new-'

/** The paths in a directory of blobs: 256 subdirectories, and one for the blobs that a sweep has set aside. */
export const createBlobPaths = (directory: string) => ({
  directory,
  asideDirectory: join(directory, 'aside'),
  blob: (hash: string): string => join(directory, hash.slice(0, 2), hash.slice(2)),
  aside: (hash: string): string => join(directory, 'aside', hash),
})

export type BlobPaths = ReturnType<typeof createBlobPaths>

/** Restores a blob that was set aside, with a new time. Returns false if it was not there. */
export function restoreBlob(paths: BlobPaths, hash: BlobHash, now: Date): Promise<boolean> {
  const [aside, path] = [paths.aside(hash), paths.blob(hash)]
  // A rename: a concurrent sweep has either removed the file or finds nothing to remove.
  const renamed = utimes(aside, now, now)
    .then(() => mkdir(dirname(path), { recursive: true, mode: 0o700 }))
    .then(() => rename(aside, path))
  return didExist(renamed)
}

/** Returns false if the file of an operation does not exist. */
export const didExist = async (work: Promise<unknown>): Promise<boolean> =>
  (await ifExists(work.then(() => true))) ?? false

/** Returns whether there is a file. Throws if that cannot be found out. */
export const exists = async (path: string): Promise<boolean> => (await findStats(path)) !== null || didExist(stat(path))
