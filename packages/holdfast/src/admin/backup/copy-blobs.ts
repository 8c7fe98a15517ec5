import { existsSync } from 'node:fs'
import { blobsOf } from '@holdfast/core'
import { type BlobHash, orThrow } from '@holdfast/protocol'
import { openFileBlobs } from '../../store/blobs/file-blobs.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { everyRecord, everySession, type ReadOnlyStore } from '../../store/read-only-store.ts'
import type { Backup } from './backup-store.ts'

/** Reads every record of the copy, and copies each blob that one of them names. */
export async function copyBlobs(
  copy: ReadOnlyStore,
  from: DiskLocation,
  to: DiskLocation,
): Promise<Omit<Backup, 'url'>> {
  const source = existsSync(from.blobsDir) ? orThrow(await openFileBlobs(from.blobsDir)) : null
  const target = orThrow(await openFileBlobs(to.blobsDir))
  const count = { sessions: 0, records: 0, lost: 0, blobs: 0, blobBytes: 0 }
  const seen = new Set<BlobHash>()
  const missingBlobs: BlobHash[] = []

  async function copyBlob(hash: BlobHash): Promise<void> {
    const bytes = (await source?.open(hash)) ?? null
    const put = bytes === null ? null : orThrow(await target.put(bytes))
    // Hashed on its way: what was damaged has another name now, and is not what the record meant.
    if (put?.hash !== hash) missingBlobs.push(hash)
    else {
      count.blobs += 1
      count.blobBytes += put.bytes
    }
  }

  for await (const session of everySession(copy)) {
    if (!session.isPurged) count.sessions += 1
    for await (const record of everyRecord(copy, session)) {
      if ('lost' in record) {
        count.lost += 1
        continue
      }
      count.records += 1
      for (const hash of blobsOf(record.event)) {
        if (seen.has(hash)) continue
        seen.add(hash)
        await copyBlob(hash)
      }
    }
  }
  return { ...count, missingBlobs }
}
