import { isDeepStrictEqual } from 'node:util'
import { blobsOf } from '@holdfast/core'
import type { Blobs, CatalogueEntry, Draft, EncodedRecord, ReadRecord, Store } from '@holdfast/core/ports'
import { type BlobHash, Handle, orThrow, type SessionId } from '@holdfast/protocol'
import type { BlobReader } from '../../store/blobs/file-blobs.ts'
import { openBlobsToRead, openBlobsToWrite } from '../../store/open/open-blobs.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { SavedLocation } from '../../store/open/store-location.ts'
import { placeholderMeta } from '../../store/placeholder-meta.ts'
import { everyRecord, everySession, type ReadOnlyStore, type StoreSession } from '../../store/read-only-store.ts'
import type { Environment } from '../../system/home.ts'
import type { MigrationProgress } from './migrate-store.ts'

/** Owns a session of the target while it is copied. It has no socket, so any later process may take over. */
export const migrationOwner = 'node_migration'

export type CopyDeps = {
  readonly source: ReadOnlyStore
  readonly sourceBlobs: Pick<Blobs, 'open'>
  readonly target: Store
  readonly targetBlobs: Blobs
  readonly onRecords: (count: number) => void
  readonly onBlob: (bytes: number) => void
}

const batchRecords = 200
const batchChars = 4 * 1024 * 1024

/** Copies the records of a session after `from`, the target's head, or all if it is null. No record may be lost. */
export async function copySession(session: StoreSession, from: number | null, deps: CopyDeps): Promise<void> {
  const { source, target } = deps
  const { id, base, head } = session
  const entry = session.entry ?? createSharedEntry(session)
  let [after, epoch] = [from ?? base, 1]
  if (from !== null) {
    const owner = (await target.entry(id))?.owner ?? null
    epoch = orThrow(await target.claim(id, migrationOwner, owner)).epoch
  }

  async function put(records: readonly EncodedRecord[]): Promise<void> {
    const isNew = from === null && after === base
    const blobs = [...new Set(records.flatMap(({ record }) => blobsOf(record.event)))]
    for (const hash of blobs) await copyBlob(hash, deps)
    if (isNew) {
      const { parent, tenant, label } = session
      const created = { session: id, parent, base, owner: migrationOwner, records, entry, blobs, tenant, label }
      orThrow(await target.create(created))
    } else {
      const change = { records, entry, blobs, clearDraft: false, trust: [] }
      orThrow(await target.append({ session: id, after, epoch, ...change }))
    }
    after += records.length
    deps.onRecords(records.length)
  }

  let batch: EncodedRecord[] = []
  let chars = 0
  for await (const record of everyRecord(source, { id, base: after, head })) {
    const encoded = encode(record)
    batch.push(encoded)
    chars += encoded.body.length
    // A blob use counts from the first record of its batch. End the batch at a record with blobs, so that the use is
    // within the records that a fork shares.
    const isFirst = from === null && after === base
    if (isFirst || batch.length >= batchRecords || chars >= batchChars || blobsOf(encoded.record.event).length > 0) {
      await put(batch)
      ;[batch, chars] = [[], 0]
    }
  }
  if (batch.length > 0) await put(batch)
  const draft: Draft | null = session.isPurged ? null : await source.loadDraft(id)
  if (draft !== null) orThrow(await target.saveDraft(id, epoch, draft))
  await target.release(id, migrationOwner, epoch)
}

function encode(record: ReadRecord): EncodedRecord {
  if ('lost' in record) throw new Error(`record ${record.seq} became unreadable during the copy`)
  // `JSON.stringify` wrote it before and gives the same text again.
  return { record, body: JSON.stringify(record.event) }
}

/** Copies a blob. `put` hashes it: bytes that are damaged in the source get another hash and are not counted. */
async function copyBlob(hash: BlobHash, { sourceBlobs, targetBlobs, onBlob }: CopyDeps): Promise<void> {
  if (await targetBlobs.has(hash)) return
  const bytes = await sourceBlobs.open(hash)
  if (bytes === null) return // missing in the source: verifyBlobs reports it
  const put = orThrow(await targetBlobs.put(bytes))
  if (put.hash === hash) onBlob(put.bytes)
}

/** Creates a placeholder entry for a purged session, which is purged again once its forks are copied. */
function createSharedEntry({ id, order }: StoreSession): CatalogueEntry {
  const at = '1970-01-01T00:00:00.000Z'
  const meta = placeholderMeta({ id, handle: Handle.parse(`shared-past-${order % 1_000_000}`), title: '' }, at)
  return { meta, spoken: false, busy: false, activeAt: 0 }
}

/** Returns whether two records are equal in every field. */
const isSameRecord = (left: ReadRecord | undefined, right: ReadRecord | undefined): boolean =>
  encodeAll(left) !== null && encodeAll(left) === encodeAll(right)

function encodeAll(record: ReadRecord | undefined): string | null {
  if (record === undefined || 'lost' in record) return null
  const { seq, at, v, by, commandId, event } = record
  return JSON.stringify([seq, at, v, by ?? null, commandId ?? null, event])
}

type VerifyBlobsDeps = Pick<CopyDeps, 'source' | 'onBlob'> & {
  readonly sourceBlobs: BlobReader
  readonly refused: ReadonlyMap<SessionId, string>
  readonly to: SavedLocation
  readonly signal: AbortSignal | undefined
  readonly environment: Environment | undefined
}

/** Hashes the blobs of copied records, and copies missing or damaged ones again. Returns those the source has lost. */
export async function verifyBlobs(deps: VerifyBlobsDeps): Promise<readonly BlobHash[]> {
  const { source, sourceBlobs, refused, to, onBlob, signal, environment } = deps
  await using target = await openBlobsToRead(to, environment)
  const checked = new Set<BlobHash>()
  const missing: BlobHash[] = []

  async function verify(hash: BlobHash): Promise<void> {
    if (await target.isWhole(hash)) return
    const bytes = (await sourceBlobs.isWhole(hash)) ? await sourceBlobs.open(hash) : null
    if (bytes === null) return void missing.push(hash)
    await using blobs = await openBlobsToWrite(to, environment)
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
function findDifference(session: StoreSession, copy: StoreSession, to: SavedLocation): string | null {
  if (copy.head !== session.head) return `it ends at ${copy.head}, not at ${session.head}`
  if (copy.parent !== session.parent || copy.base !== session.base) return 'it has another parent'
  if (copy.isPurged !== session.isPurged) return 'it is not purged as in the source'
  if (copy.trashedAt !== session.trashedAt) return 'it is not in the trash as in the source'
  if (copy.tenant !== session.tenant) return 'it has another tenant'
  // Other stores have no nodes, and so no labels.
  if (to.kind === 'postgres' && copy.label !== session.label) return 'it has another label'
  if (copy.owner !== null) return `it is still owned by ${copy.owner}`
  return isDeepStrictEqual(copy.entry, session.entry) ? null : 'its catalogue row differs'
}

/** Reads both stores again from disk; returns how many records are equal. Adds each session that differs to `refused`. */
export async function verifyRecords(
  source: ReadOnlyStore,
  to: SavedLocation,
  refused: Map<SessionId, string>,
  onProgress: (progress: Omit<MigrationProgress, 'total'>) => void,
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
      const difference = copy === null ? 'it does not exist' : findDifference(session, copy, to)
      const isSame = copy !== null && (await findCommonHead(session, source, copy, target)) === session.head
      if (difference !== null || !isSame) refused.set(session.id, `after copying, ${difference ?? 'a record differs'}`)
      else records += session.head - session.base
      sessions += 1
      onProgress({ phase: 'verifying', sessions, records })
    }
    return records
  } finally {
    await target.close()
  }
}
