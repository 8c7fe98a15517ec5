import { blobsOf, type NodeParts } from '@holdfast/core'
import type { EncodedRecord } from '@holdfast/core/ports'
import { Handle, limits, ok, type Result, type SessionId, type StoredFile } from '@holdfast/protocol'
import type { Past } from './past.ts'

export type ImportParts = NodeParts & {
  /** Whether the session runs in this process: then its log is its runner's alone. */
  readonly isAwake: (session: SessionId) => boolean
  readonly storeFile: (bytes: Uint8Array, name: string | undefined) => Promise<Result<StoredFile>>
}

const appendRecordsMax = 2000
const handleTriesMax = 20

/** What became of the records: new here, here already, or held against others. */
export type Written = { readonly status: 'imported' | 'same' | 'grown' | 'changed'; readonly handleChanged: boolean }

/**
 * Makes the session these records are of, or adds to it those it lacks. Where it has others in their place, or runs,
 * nothing is touched. `given` of them are the source's own, what follows is ours. Batches are bounded: a process that dies between two leaves a beginning, which the next one completes.
 */
export async function writePast(
  parts: ImportParts,
  past: Past,
  given: number = past.records.length,
): Promise<Result<Written>> {
  const { store } = parts
  const known = await store.entry(past.session)
  if (known === null) return create(parts, past)
  const end = past.base + given
  const upTo = Math.min(known.head, end)
  if (known.base !== past.base || !(await isSame(parts, past, upTo)))
    return ok({ status: 'changed', handleChanged: false })
  if (end <= known.head) return ok({ status: 'same', handleChanged: false })
  if (parts.isAwake(past.session) || known.owner !== null) return ok({ status: 'changed', handleChanged: false })
  return add(parts, past, known.entry.meta.handle)
}

async function create(parts: ImportParts, past: Past): Promise<Result<Written>> {
  const { store, node } = parts
  const { session, parent, base } = past
  const isWhole =
    past.records.length <= appendRecordsMax && past.records.every(({ record }) => blobsOf(record.event).length === 0)
  for (let attempt = 0; ; attempt++) {
    const records = attempt === 0 ? past.records : renamed(past.records, parts.newHandle(attempt))
    // A beginning that nobody has spoken in is cleared away by whoever starts next, should this be all that is written.
    const { entry } = isWhole ? past.folded.row : past.begun.row
    const first = { session, parent, base, owner: node.id, records: isWhole ? records : records.slice(0, 1) }
    const created = await store.create({ ...first, entry: called(entry, records) })
    if (!created.ok && created.fault.code === 'handle_taken' && attempt < handleTriesMax) continue
    if (!created.ok) return created
    const appended = isWhole ? ok(undefined) : await append(parts, past, records, base + 1, 1)
    await store.release(session, node.id, 1) // whoever opens it first has it
    return appended.ok ? ok({ status: 'imported', handleChanged: attempt > 0 }) : appended
  }
}

async function add(parts: ImportParts, past: Past, handle: string): Promise<Result<Written>> {
  const { store, node } = parts
  const lease = await store.claim(past.session, node.id, null)
  if (!lease.ok) return lease
  const { head, epoch } = lease.value
  const appended = await append(parts, past, renamed(past.records, handle), head, epoch)
  await store.release(past.session, node.id, epoch)
  return appended.ok ? ok({ status: 'grown', handleChanged: false }) : appended
}

async function append(
  { store }: ImportParts,
  { session, base, folded }: Past,
  records: readonly EncodedRecord[],
  from: number,
  epoch: number,
): Promise<Result<void>> {
  const entry = called(folded.row.entry, records)
  for (let after = from; after < base + records.length; after += appendRecordsMax) {
    const batch = records.slice(after - base, after - base + appendRecordsMax)
    const blobs = [...new Set(batch.flatMap(({ record }) => blobsOf(record.event)))]
    // Nobody's standing approvals come with a file: what was lived elsewhere changes no trust here.
    const appended = await store.append({
      session,
      after,
      epoch,
      records: batch,
      entry,
      clearDraft: false,
      blobs,
      trust: [],
    })
    if (!appended.ok) return appended
  }
  return ok(undefined)
}

/** The same records under another handle. */
function renamed(records: readonly EncodedRecord[], handle: string): readonly EncodedRecord[] {
  return records.map((one, index) => {
    const { event } = one.record
    if (index > 0 || event.type !== 'session.started') return one
    const other = { ...event, handle: Handle.parse(handle) }
    return { record: { ...one.record, event: other }, body: JSON.stringify(other) }
  })
}

function called(entry: Past['folded']['row']['entry'], [first]: readonly EncodedRecord[]) {
  const event = first?.record.event
  return event?.type === 'session.started' ? { ...entry, meta: { ...entry.meta, handle: event.handle } } : entry
}

/** The first record may name what only this place knows, as its handle; the rest must be the same. */
async function isSame({ store }: ImportParts, { session, base, records }: Past, upTo: number): Promise<boolean> {
  for (let after = base + 1; after < upTo; ) {
    const page = await store.read(session, { after, upTo, limit: limits.pageRecordsMax })
    if (page.length === 0) return false
    for (const record of page) {
      if ('lost' in record || JSON.stringify(record.event) !== records[record.seq - base - 1]?.body) return false
      after = record.seq
    }
  }
  return true
}
