import { mkdir, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobHash } from '@holdfast/protocol'
import { systemErrorCode } from '../../system/system-error.ts'

export const draftMark = 'new-'

/** Where the files of a directory of blobs lie: kept ones on 256 shelves, and beside them those that a sweep set aside. */
export const createBlobPlaces = (directory: string) => ({
  directory,
  asideDirectory: join(directory, 'aside'),
  kept: (hash: string): string => join(directory, hash.slice(0, 2), hash.slice(2)),
  aside: (hash: string): string => join(directory, 'aside', hash),
})

export type BlobPlaces = ReturnType<typeof createBlobPlaces>

/**
 * Puts a blob that was set aside back in its place, as new as one that was just put. A rename: whoever is about to remove
 * it either has done so, or finds nothing there. False when it was not there.
 */
export async function bringBack(places: BlobPlaces, hash: BlobHash, now: Date): Promise<boolean> {
  const aside = places.aside(hash)
  return ifThere(async () => {
    await utimes(aside, now, now)
    await mkdir(dirname(places.kept(hash)), { recursive: true, mode: 0o700 })
    await rename(aside, places.kept(hash))
  })
}

/** Does something to a file; false when it is not there. */
export async function ifThere(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
}

export const isThere = (path: string): Promise<boolean> => ifThere(() => stat(path))
