import { crc32 } from 'node:zlib'
import type { StoredRecord } from './messages.ts'

/**
 * Covers every field of a record and the session it belongs to. Only the body can contain a line break, so two different
 * records never produce the same text.
 */
export function checksumOf(session: string, record: StoredRecord): number {
  const { seq, at, type, v, by, commandId, ref, body } = record
  return crc32(`${session}\n${seq}\n${at}\n${type}\n${v}\n${by ?? ''}\n${commandId ?? ''}\n${ref ?? ''}\n${body}`)
}
