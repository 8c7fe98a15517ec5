import type { Append, NewSession } from '@holdfast/core/ports'
import { invariant, refOf, type Seq } from '@holdfast/protocol'
import { oldestDay } from '../../ledger.ts'
import { roleOf } from '../../search/searched-event.ts'
import { checksumOf } from '../../stored-record.ts'

/** A batch as the function `append` takes it. Absent fields change nothing. */
export function encodeAppend(append: Append) {
  const { session, after, epoch, records, clearDraft, blobs, trust, charge, commandHash } = append
  return {
    session,
    after,
    epoch,
    clearDraft,
    hasCommand: records.some(({ record }) => record.commandId !== undefined),
    ...encodeColumns(session, append, after),
    ...(blobs.length > 0 && { blobs }),
    ...(trust.length > 0 && { trust }),
    ...(charge !== undefined && { charge: { ...charge, oldestDay: oldestDay(charge.day) } }),
    ...(commandHash !== undefined && { commandHash }),
  }
}

/** A session as the function `create_session` takes it. */
export function encodeNew(created: NewSession) {
  const { session, parent, base, owner, blobs, entry, tenant } = created
  const { handle, key, parent: startedBy } = entry.meta
  return {
    session,
    parent,
    base,
    owner,
    handle,
    key,
    tenant,
    startedFor: parent === null ? startedBy : undefined,
    ...encodeColumns(session, created, base),
    ...(blobs.length > 0 && { blobs }),
  }
}

function encodeColumns(session: string, { entry, records }: Pick<Append, 'entry' | 'records'>, after: Seq) {
  const { meta, spoken, busy, activeAt } = entry
  let last = after
  const encoded = records.map(({ record, body }) => {
    const { seq, at, v, event } = record
    const [type, by, commandId, ref] = [event.type, record.by ?? null, record.commandId ?? null, refOf(event)]
    invariant(seq === last + 1, `a record at seq ${seq} does not follow ${last}`)
    last = seq
    const crc = checksumOf(session, { seq, at, type, v, by, commandId, ref, body })
    return [seq, at, type, v, by, commandId, ref, crc, body, roleOf(type) !== null]
  })
  const columns = [JSON.stringify(meta), meta.workspace, activeAt, spoken, busy, meta.pinned ? 1 : 0]
  return { entry: columns, records: encoded }
}
