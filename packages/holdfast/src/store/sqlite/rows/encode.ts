import type { Append, CatalogueEntry, EncodedRecord, NewSession } from '@holdfast/core/ports'
import { invariant, refOf, type Seq } from '@holdfast/protocol'
import type { AppendRequest, CreateRequest, StoredEntry, StoredRecord } from './messages.ts'

export function encodeAppend({
  session,
  after,
  epoch,
  entry,
  clearDraft,
  blobs,
  trust,
  ...more
}: Append): AppendRequest {
  const records = encodeRecords(more.records, after)
  return { op: 'append', session, after, epoch, records, entry: encodeEntry(entry), clearDraft, blobs, trust }
}

export function encodeNew({ session, parent, base, owner, records, entry, blobs }: NewSession): CreateRequest {
  const { handle, key = null, parent: meant = null } = entry.meta
  const startedFor = parent === null ? meant : null
  const stored = { records: encodeRecords(records, base), entry: encodeEntry(entry), blobs }
  return { op: 'create', session, parent, base, owner, handle, key, startedFor, ...stored }
}

function encodeRecords(records: readonly EncodedRecord[], after: Seq): readonly StoredRecord[] {
  return records.map(({ record, body }, index) => {
    const { seq, at, v, by, commandId, event } = record
    invariant(seq === after + index + 1, `a record at seq ${seq} does not follow ${after + index}`)
    return { seq, at, type: event.type, v, by: by ?? null, commandId: commandId ?? null, ref: refOf(event), body }
  })
}

const encodeEntry = ({ meta, spoken, busy, activeAt }: CatalogueEntry): StoredEntry => ({
  meta: JSON.stringify(meta),
  workspace: meta.workspace,
  activeAt,
  spoken: spoken ? 1 : 0,
  busy: busy ? 1 : 0,
  pinned: meta.pinned ? 1 : 0,
})
