import { crc32 } from 'node:zlib'
import type { StoredSnapshot } from '@holdfast/core/ports'

/** A snapshot that does not fit its checksum is thrown away: the log says the same, and is believed. */
export const snapshotChecksum = (session: string, { seq, fold, body }: StoredSnapshot): number =>
  crc32(body, crc32(`${session}\n${seq}\n${fold}\n`))
