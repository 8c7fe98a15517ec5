import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { blobsOf } from '@holdfast/core'
import { type BlobHash, fault, HoldfastError, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { openFileBlobs } from '../../store/blobs/file-blobs.ts'
import { temporaryPath } from '../../store/disk.ts'
import { adminOf, findInsideFault } from '../../store/open/admin-of.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskLocation, diskLocationAt } from '../../store/open/store-location.ts'
import {
  countRecords,
  everyRecord,
  everySession,
  type ReadOnlyStore,
  type ReadProgress,
} from '../../store/read-only-store.ts'
import { faultOf } from '../../store/storage-fault.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'

/** The result of a backup. */
export type Backup = {
  /** The URL of the copy, as `--store` takes it. */
  readonly url: string
  /** How many sessions were copied. */
  readonly sessions: number
  /** Records that were read back from the copy and match their checksums. */
  readonly records: number
  /** Records that the copy cannot read because the store had lost them. */
  readonly lost: number
  /** How many files were copied. */
  readonly blobs: number
  /** The size of these files. */
  readonly blobBytes: number
  /** Blobs that records refer to and the store does not have. */
  readonly missingBlobs: readonly string[]
}

type OnProgress = (progress: ReadProgress) => void

/** Copies a consistent state of a store and reads the copy back. Faults: bad_request, not_found, storage_error. */
export async function backup(from: DiskLocation, to: string, onProgress?: OnProgress): Promise<Result<Backup>> {
  const path = resolve(to)
  const copy = diskLocationAt(from.kind, path)
  const existing = [path, copy.blobsDir].find((target) => existsSync(target))
  if (existing !== undefined) {
    const message = `${existing} already exists. Give a path that does not exist.`
    return refuse(fault('bad_request', message, { path: existing }))
  }
  if (!existsSync(dirname(path)))
    return refuse(fault('bad_request', `The directory ${dirname(path)} does not exist.`, { path }))
  const inside = await findInsideFault(from, path)
  if (inside !== null) return refuse(inside)
  if (!existsSync(from.path)) return refuse(fault('not_found', `There is no store ${from.url}.`, { store: from.url }))
  const temporary = diskLocationAt(from.kind, temporaryPath(path))
  try {
    const copied = await copyInto(from, temporary, onProgress)
    await publish(temporary, copy)
    return ok({ url: copy.url, ...copied })
  } catch (error) {
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, path))
  } finally {
    for (const file of [temporary.path, temporary.blobsDir, `${temporary.path}-wal`, `${temporary.path}-shm`])
      await rm(file, { recursive: true, force: true })
  }
}

async function copyInto(from: DiskLocation, to: DiskLocation, onProgress?: OnProgress): Promise<Omit<Backup, 'url'>> {
  await adminOf(from).copyTo(to.path)
  const source = orThrow(await openReadOnlyStore(to))
  if (source === null) throw new Error('a copy that was just made does not exist')
  try {
    // Copy blobs after the records: each blob exists before a record refers to it.
    return await copyBlobs(source, from, to, onProgress)
  } finally {
    await source.close()
  }
}

/** Renames the copy, blobs first, so that a named store is always complete. */
async function publish(temporary: DiskLocation, copy: DiskLocation): Promise<void> {
  const isInside = temporary.blobsDir.startsWith(`${temporary.path}${sep}`)
  if (!isInside) await rename(temporary.blobsDir, copy.blobsDir)
  await rename(temporary.path, copy.path)
  await syncDirectory(dirname(copy.path))
}

/** Reads every record of the copy, and copies each blob that a record refers to. */
async function copyBlobs(
  copy: ReadOnlyStore,
  from: DiskLocation,
  to: DiskLocation,
  onProgress?: OnProgress,
): Promise<Omit<Backup, 'url'>> {
  const source = existsSync(from.blobsDir) ? orThrow(await openFileBlobs(from.blobsDir)) : null
  const target = orThrow(await openFileBlobs(to.blobsDir))
  const count = { sessions: 0, records: 0, lost: 0, blobs: 0, blobBytes: 0 }
  const seen = new Set<BlobHash>()
  const missingBlobs: BlobHash[] = []
  const total = onProgress ? await countRecords(copy) : 0

  async function copyBlob(hash: BlobHash): Promise<void> {
    const bytes = (await source?.open(hash)) ?? null
    const put = bytes === null ? null : orThrow(await target.put(bytes))
    // `put` hashes the bytes: a damaged blob gets another hash and counts as missing.
    if (put?.hash !== hash) missingBlobs.push(hash)
    else {
      count.blobs += 1
      count.blobBytes += put.bytes
    }
  }

  for await (const session of everySession(copy)) {
    if (!session.isPurged) count.sessions += 1
    for await (const record of everyRecord(copy, session)) {
      count['lost' in record ? 'lost' : 'records'] += 1
      onProgress?.({ records: count.records + count.lost, total })
      for (const hash of 'lost' in record ? [] : blobsOf(record.event)) {
        if (!seen.has(hash)) await copyBlob(hash)
        seen.add(hash)
      }
    }
  }
  return { ...count, missingBlobs }
}
