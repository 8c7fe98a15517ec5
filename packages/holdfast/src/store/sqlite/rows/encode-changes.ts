import type { Append, NewSession } from '@holdfast/core/ports'
import { invariant, refOf, type Seq } from '@holdfast/protocol'
import type { CallOf, RecordColumns, WriteRequests } from './requests.ts'

export const encodeAppend = (append: Append): CallOf<Pick<WriteRequests, 'append'>> => {
  const { session, after, epoch, clearDraft, blobs, trust, charge = null, commandHash = null } = append
  const { entry, records } = encodeColumns(append, after)
  return ['append', session, after, epoch, entry, records, clearDraft, blobs, trust, charge, commandHash]
}

export const encodeNew = (created: NewSession): CallOf<Pick<WriteRequests, 'create'>> => {
  const { handle, key = null, parent = null } = created.entry.meta
  const startedFor = created.parent === null ? parent : null
  return ['create', { ...created, handle, key, startedFor, ...encodeColumns(created, created.base) }]
}

function encodeColumns({ entry, records }: Pick<Append, 'entry' | 'records'>, after: Seq) {
  const { meta, spoken, busy, activeAt } = entry
  const flags = [spoken ? 1 : 0, busy ? 1 : 0, meta.pinned ? 1 : 0] as const
  const encoded: RecordColumns[] = []
  let last = after
  for (const { record, body } of records) {
    const { seq, at, v, by, commandId, event } = record
    // Not before it fails: to make the text for each record takes as long as to encode it.
    if (seq !== last + 1) invariant(false, `a record at seq ${seq} does not follow ${last}`)
    encoded.push([seq, at, event.type, v, by ?? null, commandId ?? null, refOf(event), body])
    last = seq
  }
  return { entry: [JSON.stringify(meta), meta.workspace, activeAt, ...flags] as const, records: encoded }
}
