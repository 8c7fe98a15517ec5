import { crc32 } from 'node:zlib'
import type { LostRecord } from '@holdfast/protocol'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import { decompressBody } from './columns.ts'
import { decompressTogether } from './zstd-frames.ts'

/**
 * A page as it crosses threads: for each record its head and its body, for a lost one its seq and null. Few values are
 * read, checked and cloned faster than a value for each column.
 */
export type RecordTexts = readonly (string | CompressedText | null)[]

/**
 * A compressed body that is not checked yet. The thread that asked does both, while the store's thread reads on: to
 * decompress takes it as long as everything else.
 */
export type CompressedText = {
  readonly bytes: Uint8Array
  /** The checksum of the session's name. */
  readonly begun: number
  readonly crc: number
}

/** SQL for the columns that `checksumOf` covers before the body, each followed by a line break. */
export const headColumn =
  "concat_ws(char(10), seq, at, type, v, ifnull(client, ''), ifnull(command_id, ''), ifnull(ref, ''), '')"

/** Returns the checksum of a session's name, with which each of its records begins. */
export const beginChecksum = (session: string): number => crc32(`${session}\n`)

/** Returns the checksum of a record, equal to `checksumOf`. */
export const checksumOfTexts = (begun: number, head: string, body: string): number => crc32(body, crc32(head, begun))

/** Returns the records of a page. */
export function decodeTexts(texts: RecordTexts): StoredPage {
  const page: (StoredRecord | LostRecord)[] = []
  const decompressed = decompressTexts(texts)
  for (let index = 0; index < texts.length; index += 2) {
    const head = String(texts[index])
    const given = texts[index + 1] ?? null
    const body = typeof given === 'string' ? given : (decompressed.get(index) ?? null)
    const [seq, at = '', type = '', v, by, commandId, ref] = head.split('\n', 7)
    page.push(
      body === null
        ? { seq: Number(seq), lost: true }
        : {
            seq: Number(seq),
            at,
            type,
            v: Number(v),
            by: by || null,
            commandId: commandId || null,
            ref: ref ? Number(ref) : null,
            body,
          },
    )
  }
  return page
}

/** Returns the compressed bodies of a page as text, by their index. Those that do not match their checksums are missing. */
function decompressTexts(texts: RecordTexts): ReadonlyMap<number, string> {
  const bodies = new Map<number, CompressedText>()
  for (let index = 0; index < texts.length; index += 2) {
    const body = texts[index + 1] ?? null
    if (body !== null && typeof body !== 'string') bodies.set(index, body)
  }
  const decompressed = new Map<number, string>()
  const together = bodies.size > 1 ? decompressTogether([...bodies.values()].map(({ bytes }) => bytes)) : null
  for (const [count, [index, { bytes, begun, crc }]] of [...bodies].entries()) {
    const headSum = crc32(String(texts[index]), begun)
    const found = together?.[count]
    if (found !== undefined && crc32(found, headSum) === crc) decompressed.set(index, found.toString())
    else {
      const alone = decompressBody(bytes)
      if (crc32(alone, headSum) === crc) decompressed.set(index, alone)
    }
  }
  return decompressed
}
