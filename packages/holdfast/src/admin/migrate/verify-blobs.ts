import { blobsOf } from '@holdfast/core'
import { type BlobHash, orThrow, type SessionId } from '@holdfast/protocol'
import { type BlobReader, createBlobReader, openFileBlobs } from '../../store/blobs/file-blobs.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { everyRecord, everySession, type ReadOnlyStore } from '../../store/read-only-store.ts'

export type VerifyBlobsDeps = {
  readonly source: ReadOnlyStore
  readonly sourceBlobs: BlobReader
  readonly refused: ReadonlyMap<SessionId, string>
  readonly to: DiskLocation
  /** Called for each that had to be copied again. */
  readonly onBlob: (bytes: number) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Hashes each blob that copied records name, as it lies in the target; one that is damaged there, or not there, is copied
 * again. Returns those that are still not whole: the source has lost them.
 */
export async function verifyBlobs(parts: VerifyBlobsDeps): Promise<readonly BlobHash[]> {
  const { source, sourceBlobs, refused, to, onBlob, signal } = parts
  const there = createBlobReader(to.blobsDir)
  const looked = new Set<BlobHash>()
  const missing: BlobHash[] = []

  async function verify(hash: BlobHash): Promise<void> {
    if (await there.isWhole(hash)) return
    const bytes = (await sourceBlobs.isWhole(hash)) ? await sourceBlobs.open(hash) : null
    if (bytes === null) return void missing.push(hash)
    const blobs = orThrow(await openFileBlobs(to.blobsDir))
    onBlob(orThrow(await blobs.put(bytes)).bytes)
  }

  for await (const session of everySession(source)) {
    if (refused.has(session.id)) continue
    for await (const record of everyRecord(source, session)) {
      for (const hash of 'lost' in record ? [] : blobsOf(record.event)) {
        if (signal?.aborted) return missing
        if (looked.has(hash)) continue
        looked.add(hash)
        await verify(hash)
      }
    }
  }
  return missing
}
