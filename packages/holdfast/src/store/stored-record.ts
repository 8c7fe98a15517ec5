import { crc32 } from 'node:zlib'
import type { ReadRecord } from '@holdfast/core/ports'
import type { LostRecord, Recorded } from '@holdfast/protocol'

/** A record as a row of a database holds it. */
export type StoredRecord = {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly v: number
  readonly by: string | null
  readonly commandId: string | null
  readonly ref: number | null
  readonly body: string
}
export type StoredPage = readonly (StoredRecord | LostRecord)[]

/** Covers every field of a record and its session. Only the body can contain a line break, so no two texts are equal. */
export function checksumOf(session: string, record: StoredRecord): number {
  const { seq, at, type, v, by, commandId, ref, body } = record
  const head = `${session}\n${seq}\n${at}\n${type}\n${v}\n${by ?? ''}\n${commandId ?? ''}\n${ref ?? ''}\n`
  return crc32(body, crc32(head)) // the body by itself: to join the two would copy it
}

/** Parses a record. Holdfast encoded its body, and a checksum covers it: it is not validated. */
export function decodeRecord(stored: StoredRecord | LostRecord): ReadRecord {
  if ('lost' in stored) return stored
  const { seq, at, v, by, commandId, body } = stored
  const event = JSON.parse(body)
  // Most records have neither: two spreads for each of them take as long as the rest of this function.
  if (by === null && commandId === null) return { seq, at, v, event } as Recorded
  return { seq, at, v, ...(by !== null && { by }), ...(commandId !== null && { commandId }), event } as Recorded
}
