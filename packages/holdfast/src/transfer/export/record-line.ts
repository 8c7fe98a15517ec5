import type { ReadRecord } from '@holdfast/core/ports'
import { refOf, type SessionId } from '@holdfast/protocol'
import { appendChecksum, encodeLine } from '../../store/jsonl/log/log-line.ts'

/** Writes a record as a line of a log, with its checksum. */
export function recordLine(record: ReadRecord, session: SessionId): string {
  if ('lost' in record) return appendChecksum(session, JSON.stringify(record).slice(0, -1))
  const { seq, at, v, by = null, commandId = null, event } = record
  const line = { seq, at, type: event.type, v, by, commandId, ref: refOf(event), body: JSON.stringify(event) }
  return encodeLine(session, line, { prior: 0, more: 0, endsDraft: false, blobs: [] })
}
