import { crc32 } from 'node:zlib'
import type { StoredRecord } from './messages.ts'

/**
 * Covers everything that gives a record its meaning, the session it belongs to included. No field but the body can hold
 * a line break, so no two records share a text.
 */
export function checksumOf(session: string, record: StoredRecord): number {
  const { seq, at, type, v, by, commandId, ref, body } = record
  return crc32(`${session}\n${seq}\n${at}\n${type}\n${v}\n${by ?? ''}\n${commandId ?? ''}\n${ref ?? ''}\n${body}`)
}
