import { isDeepStrictEqual } from 'node:util'
import { blobsOf } from '@holdfast/core'
import { type BlobHash, orThrow, type SessionId } from '@holdfast/protocol'
import { type BlobReader, createBlobReader, openFileBlobs } from '../../store/blobs/file-blobs.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { everyRecord, everySession, type ReadOnlyStore, type StoreSession } from '../../store/read-only-store.ts'
import { isSameRecord } from './copy-session.ts'
import type { MigrationProgress } from './migrate-store.ts'

export type VerifyBlobsDeps = {
  readonly source: ReadOnlyStore
  readonly sourceBlobs: BlobReader
  readonly refused: ReadonlyMap<SessionId, string>
  readonly to: DiskLocation
  /** Called for each blob that had to be copied again. */
  readonly onBlob: (bytes: number) => void
  readonly signal: AbortSignal | undefined
}

/**
 * Hashes each blob that copied records refer to in the target; a missing or damaged one is copied again. Returns the
 * blobs that the source has lost.
 */
export async function verifyBlobs(deps: VerifyBlobsDeps): Promise<readonly BlobHash[]> {
  const { source, sourceBlobs, refused, to, onBlob, signal } = deps
  const target = createBlobReader(to.blobsDir)
  const checked = new Set<BlobHash>()
  const missing: BlobHash[] = []

  async function verify(hash: BlobHash): Promise<void> {
    if (await target.isWhole(hash)) return
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
        if (checked.has(hash)) continue
        checked.add(hash)
        await verify(hash)
      }
    }
  }
  return missing
}

/** Returns the head of the copy if all its records equal the source's; null if one differs or cannot be read. */
export async function findCommonHead(
  session: StoreSession,
  source: Pick<ReadOnlyStore, 'ownRecords'>,
  copy: StoreSession,
  target: Pick<ReadOnlyStore, 'ownRecords'>,
): Promise<number | null> {
  if (copy.base !== session.base || copy.parent !== session.parent || copy.head > session.head) return null
  const copied = everyRecord(target, copy)
  for await (const record of everyRecord(source, { ...session, head: copy.head })) {
    const { value } = await copied.next()
    if (!isSameRecord(record, value)) return null
  }
  return copy.head
}

/** Returns in words how two sessions differ apart from their records; null if they do not. */
function findDifference(session: StoreSession, copy: StoreSession): string | null {
  if (copy.head !== session.head) return `it ends at ${copy.head}, not at ${session.head}`
  if (copy.parent !== session.parent || copy.base !== session.base) return 'it has another parent'
  if (copy.isPurged !== session.isPurged) return 'it is not purged as in the source'
  if (copy.trashedAt !== session.trashedAt) return 'it is not in the trash as in the source'
  if (copy.owner !== null) return `it is still owned by ${copy.owner}`
  return isDeepStrictEqual(copy.entry, session.entry) ? null : 'its catalogue row differs'
}

/** Reads both stores again from disk; returns how many records are equal. Adds each session that differs to `refused`. */
export async function verifyRecords(
  source: ReadOnlyStore,
  to: DiskLocation,
  refused: Map<SessionId, string>,
  onProgress: ((progress: MigrationProgress) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  const target = orThrow(await openReadOnlyStore(to))
  if (target === null) return 0
  let [sessions, records] = [0, 0]
  try {
    for await (const session of everySession(source)) {
      if (signal?.aborted) break
      if (refused.has(session.id)) continue
      const copy = await target.session(session.id)
      if (copy === null && session.isPurged) continue // none of its forks could be copied
      const difference = copy === null ? 'it does not exist' : findDifference(session, copy)
      const isSame = copy !== null && (await findCommonHead(session, source, copy, target)) === session.head
      if (difference !== null || !isSame) refused.set(session.id, `after copying, ${difference ?? 'a record differs'}`)
      else records += session.head - session.base
      sessions += 1
      onProgress?.({ phase: 'verifying', sessions, records })
    }
    return records
  } finally {
    await target.close()
  }
}
