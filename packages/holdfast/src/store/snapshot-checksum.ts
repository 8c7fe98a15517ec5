import { crc32 } from 'node:zlib'
import type { StoredSnapshot } from '@holdfast/core/ports'

/** A snapshot with a wrong checksum is ignored: it is rebuilt from the log. */
export const snapshotChecksum = (session: string, { seq, fold, body }: StoredSnapshot): number =>
  crc32(body, crc32(`${session}\n${seq}\n${fold}\n`))
