import { blobsOf } from '@holdfast/core'
import type { Blobs, CatalogueEntry, Draft, EncodedRecord, ReadRecord, Store } from '@holdfast/core/ports'
import { Handle, orThrow, type Recorded } from '@holdfast/protocol'
import { placeholderMeta } from '../../store/placeholder-meta.ts'
import { everyRecord, type KeptSession, type ReadOnlyStore } from '../../store/read-only-store.ts'

/** Who owns a session of the target while it is being copied. It has no socket, so whoever comes later may take over. */
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

/**
 * Brings a session of the target from where it stands to what the source has of it, records as they are. `from` is the
 * target's head, or null where it is not there yet. The records have been looked through before: none is lost.
 */
export async function copySession(session: KeptSession, from: number | null, parts: CopyDeps): Promise<void> {
  const { source, target } = parts
  const { id, base, head } = session
  const entry = session.entry ?? sharedEntry(session)
  let [after, epoch] = [from ?? base, 1]
  if (from !== null) {
    const owner = (await target.entry(id))?.owner ?? null
    epoch = orThrow(await target.claim(id, migrationOwner, owner)).epoch
  }

  async function put(records: readonly EncodedRecord[]): Promise<void> {
    const isNew = from === null && after === base
    const blobs = [...new Set(records.flatMap(({ record }) => blobsOf(record.event)))]
    for (const hash of blobs) await copyBlob(hash, parts)
    if (isNew) {
      const { parent } = session
      orThrow(await target.create({ session: id, parent, base, owner: migrationOwner, records, entry, blobs }))
    } else {
      const change = { records, entry, blobs, clearDraft: false, trust: [] }
      orThrow(await target.append({ session: id, after, epoch, ...change }))
    }
    after += records.length
    parts.onRecords(records.length)
  }

  let batch: EncodedRecord[] = []
  let chars = 0
  for await (const record of everyRecord(source, { id, base: after, head })) {
    const encoded = encode(record)
    batch.push(encoded)
    chars += encoded.body.length
    // A session is made with its first record alone, and a batch ends with the record that names a blob: what refers to
    // a blob must not seem to lie behind what a fork shares.
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
  if ('lost' in record) throw new Error(`record ${record.seq} was lost while it was copied`)
  // Its text was made by `JSON.stringify` once, and is the same when made again.
  return { record, body: JSON.stringify(record.event) }
}

type Hash = ReturnType<typeof blobsOf>[number]

/** The copy is hashed on its way: bytes that are damaged in the source get another name, and are not counted. */
async function copyBlob(hash: Hash, { sourceBlobs, targetBlobs, onBlob }: CopyDeps): Promise<void> {
  if (await targetBlobs.has(hash)) return
  const bytes = await sourceBlobs.open(hash)
  if (bytes === null) return // lost in the source too: the comparison tells
  const put = orThrow(await targetBlobs.put(bytes))
  if (put.hash === hash) onBlob(put.bytes)
}

/** What is left of a purged session is found by nobody, and is purged here as soon as its forks are there. */
function sharedEntry({ id, order }: KeptSession): CatalogueEntry {
  const at = '1970-01-01T00:00:00.000Z'
  const meta = placeholderMeta({ id, handle: Handle.parse(`shared-past-${order % 1_000_000}`), title: '' }, at)
  return { meta, spoken: false, busy: false, activeAt: 0 }
}

/** Whether two records are the same in every field. */
export const isSameRecord = (left: ReadRecord | undefined, right: ReadRecord | undefined): boolean =>
  left !== undefined && right !== undefined && !('lost' in left) && !('lost' in right) && text(left) === text(right)

function text({ seq, at, v, by, commandId, event }: Recorded): string {
  return JSON.stringify([seq, at, v, by ?? null, commandId ?? null, event])
}
