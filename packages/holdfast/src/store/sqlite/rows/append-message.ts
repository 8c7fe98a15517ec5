import type { TrustChange } from '@holdfast/core/ports'
import type { AppendRequest, StoredEntry, StoredRecord, WriteRequest } from './messages.ts'

type PackedRecord = readonly [
  seq: number,
  at: string,
  type: string,
  v: number,
  by: string | null,
  commandId: string | null,
  ref: number | null,
  body: string,
]
type PackedEntry = readonly [
  meta: string,
  workspace: string,
  activeAt: number,
  spoken: 0 | 1,
  busy: 0 | 1,
  pinned: 0 | 1,
]
type PackedAppend = readonly [
  session: string,
  after: number,
  epoch: number,
  entry: PackedEntry,
  records: readonly PackedRecord[],
  clearDraft: boolean,
  blobs: readonly string[],
  trust: readonly TrustChange[] | null,
]

/** A request as it crosses to the writer. An append crosses as bare lists: cloning its names takes twice as long. */
export type PackedWrite = PackedAppend | Exclude<WriteRequest, AppendRequest>

export function packWrite(request: WriteRequest): PackedWrite {
  if (request.op !== 'append') return request
  const { session, after, epoch, entry, records, clearDraft, blobs } = request
  const trust = request.trust.length === 0 ? null : request.trust
  return [session, after, epoch, packEntry(entry), records.map(packRecord), clearDraft, blobs, trust]
}

const noTrust: readonly TrustChange[] = []

export function unpackWrite(packed: PackedWrite): WriteRequest {
  if (!isAppend(packed)) return packed
  const [session, after, epoch, entry, records, clearDraft, blobs, trust] = packed
  return {
    op: 'append',
    session,
    after,
    epoch,
    entry: unpackEntry(entry),
    records: records.map(unpackRecord),
    clearDraft,
    blobs,
    trust: trust ?? noTrust,
  }
}

const isAppend = (packed: PackedWrite): packed is PackedAppend => Array.isArray(packed)

const packEntry = ({ meta, workspace, activeAt, spoken, busy, pinned }: StoredEntry): PackedEntry => [
  meta,
  workspace,
  activeAt,
  spoken,
  busy,
  pinned,
]

const unpackEntry = ([meta, workspace, activeAt, spoken, busy, pinned]: PackedEntry): StoredEntry => ({
  meta,
  workspace,
  activeAt,
  spoken,
  busy,
  pinned,
})

const packRecord = ({ seq, at, type, v, by, commandId, ref, body }: StoredRecord): PackedRecord => [
  seq,
  at,
  type,
  v,
  by,
  commandId,
  ref,
  body,
]

const unpackRecord = ([seq, at, type, v, by, commandId, ref, body]: PackedRecord): StoredRecord => ({
  seq,
  at,
  type,
  v,
  by,
  commandId,
  ref,
  body,
})
