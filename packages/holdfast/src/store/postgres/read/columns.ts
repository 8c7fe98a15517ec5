import type { CatalogueEntry } from '@holdfast/core/ports'
import type { LostRecord, Meta } from '@holdfast/protocol'
import { checksumOf, type StoredRecord } from '../../stored-record.ts'
import type { SqlRow } from '../connect/connect.ts'

// Each column has its type or is null.
export const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
export const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))

export const recordColumns = 'seq, at, type, v, client, command_id, ref, crc, body'

/** Returns the record of a row, or a lost record if its checksum does not match. */
export function checkRecord(session: string, row: SqlRow): StoredRecord | LostRecord {
  const record: StoredRecord = {
    seq: Number(row['seq']),
    at: String(row['at']),
    type: String(row['type']),
    v: Number(row['v']),
    by: textOrNull(row['client']),
    commandId: textOrNull(row['command_id']),
    ref: numberOrNull(row['ref']),
    body: String(row['body']),
  }
  return checksumOf(session, record) === row['crc'] ? record : { seq: record.seq, lost: true }
}

export const readEntry = (row: SqlRow): CatalogueEntry => ({
  meta: JSON.parse(String(row['meta'])) as Meta, // encoded from a Meta
  spoken: row['spoken'] === true,
  busy: row['busy'] === true,
  activeAt: Number(row['active_at']),
})
