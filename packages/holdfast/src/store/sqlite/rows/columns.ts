import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { LostRecord, SessionId } from '@holdfast/protocol'
import { checksumOf, type StoredRecord } from '../../stored-record.ts'
import type { FollowedSession, StoredEntry } from './requests.ts'

export type Row = Record<string, unknown>

// The tables are strict, so each column has its type or is null.
export const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
export const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))

/** Most bodies are shorter than this: compressing them would save little, and decompressing one takes longer than its row. */
export const compressedCharsMin = 2400
/** A body that saves less than this share stays text, which is free to read. */
const savedShareMin = 1 / 8
const params = { [constants.ZSTD_c_compressionLevel]: 1 }
const compressedChunkMax = 128 * 1024
/** Far more than any record holds: damaged bytes may claim any length. Most bodies fit one small chunk. */
const decompression = { maxOutputLength: 512 * 1024 * 1024, chunkSize: 8 * 1024 }

/** Returns a record's body for its column: text, or compressed bytes if it is long and compresses well. */
export function compressBody(text: string): string | Uint8Array {
  if (text.length < compressedCharsMin) return text
  const bytes = Buffer.from(text)
  // With its length known, zstd needs less memory and Node one buffer: a third less time for a body of a few kilobytes.
  const chunkSize = Math.min(bytes.length, compressedChunkMax)
  const compressed = zstdCompressSync(bytes, { params, pledgedSrcSize: bytes.length, chunkSize })
  return compressed.length <= bytes.length * (1 - savedShareMin) ? compressed : text
}

/** Returns the text of a stored body. For damaged bytes it is empty, which no checksum matches. */
export function decompressBody(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  try {
    return zstdDecompressSync(value, decompression).toString()
  } catch {
    return ''
  }
}

export const recordColumns = 'seq, at, type, v, client, command_id, ref, crc, body'

/** Returns the record of a row, or a lost record if its checksum does not match. */
export function checkRecord(session: string, row: Row): StoredRecord | LostRecord {
  const { seq, at, type, v, client, command_id, ref, crc, body } = row
  return checkColumns(session, [seq, at, type, v, client, command_id, ref, crc, body])
}

/** The same for a row that was read as a list. */
export function checkColumns(session: string, row: readonly unknown[]): StoredRecord | LostRecord {
  const [seq, at, type, v, client, commandId, ref, crc, body] = row
  const record: StoredRecord = {
    seq: Number(seq),
    at: String(at),
    type: String(type),
    v: Number(v),
    by: textOrNull(client),
    commandId: textOrNull(commandId),
    ref: numberOrNull(ref),
    body: decompressBody(body),
  }
  return checksumOf(session, record) === crc ? record : { seq: record.seq, lost: true }
}

export const readEntry = (row: Row): StoredEntry => ({
  meta: String(row['meta']),
  spoken: row['spoken'] === 1,
  busy: row['busy'] === 1,
  activeAt: Number(row['active_at']),
})

export const selectSession = `
  select session.sid, session.id, parent.id as parent, session.base, session.head, session.owner, session.trashed_at,
    session.purged_at, session.meta, session.active_at, session.spoken, session.busy
  from session left join session parent on parent.sid = session.parent`

export const readSession = (row: Row): FollowedSession => ({
  order: Number(row['sid']),
  id: String(row['id']) as SessionId, // the column holds nothing else
  parent: textOrNull(row['parent']) as SessionId | null, // as above
  base: Number(row['base']),
  head: Number(row['head']),
  isPurged: row['purged_at'] !== null,
  entry: readEntry(row),
})
