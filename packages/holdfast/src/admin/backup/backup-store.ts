import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { fault, HoldfastError, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { temporaryPath } from '../../store/disk.ts'
import { adminOf } from '../../store/open/admin-of.ts'
import { refusalInside } from '../../store/open/inside-store.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskLocation, diskLocationAt } from '../../store/open/store-location.ts'
import { faultOf } from '../../store/storage-fault.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'
import { copyBlobs } from './copy-blobs.ts'

export type Backup = {
  /** The copy as a store: what `--store` takes. */
  readonly url: string
  readonly sessions: number
  /** Records that were read back from the copy, each by its checksum. */
  readonly records: number
  /** Records that cannot be read in the copy: the store had lost them. */
  readonly lost: number
  readonly blobs: number
  readonly blobBytes: number
  /** Files that records name and the store does not have. */
  readonly missingBlobs: readonly string[]
}

/**
 * Copies a store as it is at one moment, while others write in it, and reads the copy back. It has its name only once
 * it is whole. Refused: bad_request where something is in the way, not_found without a store, storage_error.
 */
export async function backup(from: DiskLocation, to: string): Promise<Result<Backup>> {
  const path = resolve(to)
  const copy = diskLocationAt(from.kind, path)
  const inTheWay = [path, copy.blobsDir].find((one) => existsSync(one))
  if (inTheWay !== undefined)
    return refuse(fault('bad_request', `${inTheWay} exists; a backup replaces nothing.`, { path: inTheWay }))
  if (!existsSync(dirname(path)))
    return refuse(fault('bad_request', `There is no directory ${dirname(path)}.`, { path }))
  const inside = await refusalInside(from, path)
  if (inside !== null) return refuse(inside)
  if (!existsSync(from.path)) return refuse(fault('not_found', `There is no store ${from.url}.`, { store: from.url }))
  const draft = diskLocationAt(from.kind, temporaryPath(path))
  try {
    const copied = await copyInto(from, draft)
    await keep(draft, copy)
    return ok({ url: copy.url, ...copied })
  } catch (error) {
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, path))
  } finally {
    for (const left of [draft.path, draft.blobsDir, `${draft.path}-wal`, `${draft.path}-shm`])
      await rm(left, { recursive: true, force: true })
  }
}

async function copyInto(from: DiskLocation, draft: DiskLocation): Promise<Omit<Backup, 'url'>> {
  await adminOf(from).copyTo(draft.path)
  const source = orThrow(await openReadOnlyStore(draft))
  if (source === null) throw new Error('a copy that was just made is not there')
  try {
    // After the records: each blob was there before a record named it.
    return await copyBlobs(source, from, draft)
  } finally {
    await source.close()
  }
}

/** The files first: once the store has its name, all it refers to is there. */
async function keep(draft: DiskLocation, copy: DiskLocation): Promise<void> {
  const isInside = draft.blobsDir.startsWith(`${draft.path}${sep}`)
  if (!isInside) await rename(draft.blobsDir, copy.blobsDir)
  await rename(draft.path, copy.path)
  await syncDirectory(dirname(copy.path))
}
