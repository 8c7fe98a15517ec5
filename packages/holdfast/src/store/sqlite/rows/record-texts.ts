import { crc32 } from 'node:zlib'
import type { LostRecord } from '@holdfast/protocol'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import { decompressBody } from './columns.ts'
import { decompressTogether } from './zstd-frames.ts'

/** Between two lines. No record has it: JSON escapes it, and no name may contain it. */
export const lineSeparator = '\x1e'

/**
 * A page as it crosses threads: lines of records, joined by separators; a record whose body is compressed; the seq of a lost
 * one. Few values are read and cloned faster than a value for each column of each record.
 */
export type RecordTexts = readonly (string | CompressedText | number)[]

/**
 * A record with a compressed body that is not checked yet. The thread that asked does both, while the store's thread reads
 * on: to decompress takes it as long as everything else.
 */
export type CompressedText = {
  /** The line without the body. */
  readonly head: string
  readonly bytes: Uint8Array
  /** The checksum of the session's name. */
  readonly begun: number
}

/** A longer body is not part of its line, so that the lines read at once are bounded. */
export const bodyBytesInline = 64 * 1024

/**
 * SQL for the line of a row: its checksum, then all that the checksum covers, each field followed by a line break. The
 * body is left out if it is long or compressed.
 */
export const lineColumn = `concat_ws(char(10), crc, seq, at, type, v, ifnull(client, ''), ifnull(command_id, ''),
  ifnull(ref, ''), iif(typeof(body) = 'text' and octet_length(body) <= ${bodyBytesInline}, body, ''))`

/** Returns the checksum of a session's name, with which each of its records begins. */
export const beginChecksum = (session: string): number => crc32(`${session}\n`)

/** Returns whether a line, with its body, matches its checksum. */
export function isIntact(line: string, begun: number): boolean {
  const crcEnd = line.indexOf('\n')
  return crc32(line.slice(crcEnd + 1), begun) === Number(line.slice(0, crcEnd))
}

/** Returns the records of a page. */
export function decodeTexts(texts: RecordTexts): StoredPage {
  const decompressed = decompressTexts(texts)
  const page: (StoredRecord | LostRecord)[] = []
  for (const text of texts) {
    if (typeof text === 'number') page.push({ seq: text, lost: true })
    else if (typeof text === 'string') for (const line of text.split(lineSeparator)) page.push(decodeLine(line))
    else page.push(decompressed.get(text) ?? { seq: decodeLine(text.head).seq, lost: true })
  }
  return page
}

function decodeLine(line: string): StoredRecord {
  const crcEnd = line.indexOf('\n')
  const seqEnd = line.indexOf('\n', crcEnd + 1)
  const atEnd = line.indexOf('\n', seqEnd + 1)
  const typeEnd = line.indexOf('\n', atEnd + 1)
  const vEnd = line.indexOf('\n', typeEnd + 1)
  const byEnd = line.indexOf('\n', vEnd + 1)
  const commandEnd = line.indexOf('\n', byEnd + 1)
  const refEnd = line.indexOf('\n', commandEnd + 1)
  return {
    seq: Number(line.slice(crcEnd + 1, seqEnd)),
    at: apart(line.slice(seqEnd + 1, atEnd)),
    type: line.slice(atEnd + 1, typeEnd),
    v: Number(line.slice(typeEnd + 1, vEnd)),
    by: byEnd === vEnd + 1 ? null : apart(line.slice(vEnd + 1, byEnd)),
    commandId: commandEnd === byEnd + 1 ? null : apart(line.slice(byEnd + 1, commandEnd)),
    ref: refEnd === commandEnd + 1 ? null : Number(line.slice(commandEnd + 1, refEnd)),
    body: line.slice(refEnd + 1),
  }
}

/** Copies a short part of a text: V8 would keep the whole text in memory for it. */
const apart = (part: string): string => ` ${part}`.slice(1)

/** Returns the records of a page whose bodies are compressed. Those that do not match their checksums are missing. */
function decompressTexts(texts: RecordTexts): ReadonlyMap<CompressedText, StoredRecord> {
  const compressed = texts.filter((text) => typeof text === 'object')
  const records = new Map<CompressedText, StoredRecord>()
  const together = compressed.length > 1 ? decompressTogether(compressed.map(({ bytes }) => bytes)) : null
  for (const [index, text] of compressed.entries()) {
    const crcEnd = text.head.indexOf('\n')
    const crc = Number(text.head.slice(0, crcEnd))
    const headSum = crc32(text.head.slice(crcEnd + 1), text.begun)
    const found = together?.[index]
    const isRight = found !== undefined && crc32(found, headSum) === crc
    const body = isRight ? found.toString() : decompressBody(text.bytes)
    if (isRight || crc32(body, headSum) === crc) records.set(text, { ...decodeLine(text.head), body })
  }
  return records
}
