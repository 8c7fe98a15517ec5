import type { Append, CatalogueEntry, EncodedRecord, NewSession } from '@holdfast/core/ports'
import { invariant, refOf, type Seq } from '@holdfast/protocol'
import type { CallOf, Changes, EntryColumns, RecordColumns } from './messages.ts'

export const encodeAppend = (append: Append): CallOf<Pick<Changes, 'append'>> => {
  const { session, after, epoch, entry, clearDraft, blobs, trust } = append
  return [
    'append',
    session,
    after,
    epoch,
    encodeEntry(entry),
    encodeRecords(append.records, after),
    clearDraft,
    blobs,
    trust,
  ]
}

export function encodeNew({
  session,
  parent,
  base,
  owner,
  records,
  entry,
  blobs,
}: NewSession): CallOf<Pick<Changes, 'create'>> {
  const { handle, key = null, parent: parentInMeta = null } = entry.meta
  const startedFor = parent === null ? parentInMeta : null
  const columns = { records: encodeRecords(records, base), entry: encodeEntry(entry), blobs }
  return ['create', { session, parent, base, owner, handle, key, startedFor, ...columns }]
}

function encodeRecords(records: readonly EncodedRecord[], after: Seq): readonly RecordColumns[] {
  return records.map(({ record, body }, index) => {
    const { seq, at, v, by, commandId, event } = record
    invariant(seq === after + index + 1, `a record at seq ${seq} does not follow ${after + index}`)
    return [seq, at, event.type, v, by ?? null, commandId ?? null, refOf(event), body]
  })
}

const encodeEntry = ({ meta, spoken, busy, activeAt }: CatalogueEntry): EntryColumns => [
  JSON.stringify(meta),
  meta.workspace,
  activeAt,
  spoken ? 1 : 0,
  busy ? 1 : 0,
  meta.pinned ? 1 : 0,
]
