import { crc32 } from 'node:zlib'
import type { ReadRecord } from '@holdfast/core/ports'
import type { LostRecord, Recorded } from '@holdfast/protocol'
import type { Result } from '@holdfast/protocol/result'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import { decompressBody } from './columns.ts'
import { lineSeparator } from './record-lines.ts'
import { decompressTogether } from './zstd-frames.ts'

/**
 * A page of records as it crosses threads: lines of many records, one line, or the seq of a lost record. Their bytes move to
 * the other thread without a copy. A value for each column of each record takes longer to read and to clone.
 */
export type PackedPage = readonly (PackedLines | string | number)[]

export type PackedLines = {
  /** The lines of consecutive records, joined by separators. */
  readonly lines: Uint8Array
  /**
   * The compressed bodies of the lines that have none, joined. They are not checked yet. The thread that asked does that,
   * while the store's thread reads on: to decompress them takes as long as everything else.
   */
  readonly compressed: Uint8Array
  readonly compressedLengths: readonly number[]
  /** The checksum of the session's name. */
  readonly begun: number
}

/** Returns the checksum of a session's name, with which each of its records begins. */
export const beginChecksum = (session: string): number => crc32(`${session}\n`)

/** Returns the buffers of the answer to a request, which move to the thread that asked. Only pages of records have some. */
export function buffersOf([name]: readonly unknown[], answer: Result<unknown>): readonly ArrayBuffer[] {
  if (name !== 'read' || !answer.ok) return []
  const page = answer.value as PackedPage // the answer to `read`
  const views = page.flatMap((part) => (typeof part === 'object' ? [part.lines, part.compressed] : []))
  return [...new Set(views.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer))]
}

/** Makes a record of a line and its body. */
type Decode<One> = (line: string, body: string | null) => One

/** Returns the records of a page, as rows hold them. */
export const unpackPage = (page: PackedPage): StoredPage => unpack(page, decodeRow)

/** Returns the records of a page, with their events parsed. */
export const unpackRecords = (page: PackedPage): readonly ReadRecord[] => unpack(page, createRecordDecoder())

function unpack<One>(page: PackedPage, decode: Decode<One>): readonly (One | LostRecord)[] {
  const records: (One | LostRecord)[] = []
  for (const part of page) {
    if (typeof part === 'number') records.push({ seq: part, lost: true })
    else if (typeof part === 'string') records.push(decode(part, null))
    else unpackLines(part, decode, records)
  }
  return records
}

function unpackLines<One>(packed: PackedLines, decode: Decode<One>, records: (One | LostRecord)[]): void {
  const nextBody = packed.compressedLengths.length === 0 ? null : createBodies(packed)
  const { buffer, byteOffset, byteLength } = packed.lines
  for (const line of Buffer.from(buffer, byteOffset, byteLength).toString().split(lineSeparator)) {
    if (!line.endsWith('\n')) records.push(decode(line, null))
    else {
      const body = nextBody?.(line) ?? null
      records.push(body === null ? { seq: seqOfLine(line), lost: true } : decode(line, body))
    }
  }
}

function seqOfLine(line: string): number {
  const crcEnd = line.indexOf('\n')
  return Number(line.slice(crcEnd + 1, line.indexOf('\n', crcEnd + 1)))
}

/** Returns a function that decodes lines into records, one after the other. It makes as few values as possible for each. */
function createRecordDecoder(): Decode<Recorded> {
  const timeOf = createTimes()
  return (line, body) => {
    const crcEnd = line.indexOf('\n')
    const seqEnd = line.indexOf('\n', crcEnd + 1)
    const atEnd = line.indexOf('\n', seqEnd + 1)
    const typeEnd = line.indexOf('\n', atEnd + 1)
    const vEnd = line.indexOf('\n', typeEnd + 1)
    const byEnd = line.indexOf('\n', vEnd + 1)
    const commandEnd = line.indexOf('\n', byEnd + 1)
    const seq = Number(line.slice(crcEnd + 1, seqEnd))
    const at = timeOf(line, seqEnd + 1, atEnd)
    const v = Number(line.slice(typeEnd + 1, vEnd))
    const event = JSON.parse(body ?? line.slice(line.indexOf('\n', commandEnd + 1) + 1))
    // Holdfast encoded the body, and a checksum covers it: it is not validated. Most records have neither of the last two.
    if (byEnd === vEnd + 1 && commandEnd === byEnd + 1) return { seq, at, v, event } as Recorded
    const by = byEnd === vEnd + 1 ? {} : { by: apart(line.slice(vEnd + 1, byEnd)) }
    const command = commandEnd === byEnd + 1 ? {} : { commandId: apart(line.slice(byEnd + 1, commandEnd)) }
    return { seq, at, v, ...by, ...command, event } as Recorded
  }
}

/** Decodes a line into a row. */
function decodeRow(line: string, body: string | null): StoredRecord {
  const fields = line.split('\n', 8)
  const [, seq = '', at = '', type = '', v = '', by = '', commandId = '', ref = ''] = fields
  return {
    seq: Number(seq),
    at,
    type,
    v: Number(v),
    by: by === '' ? null : by,
    commandId: commandId === '' ? null : commandId,
    ref: ref === '' ? null : Number(ref),
    body: body ?? line.slice(fields.reduce((end, field) => end + field.length + 1, 0)),
  }
}

/** Returns a function that reads the times of lines. Records that were appended together have the same, which is read once. */
function createTimes(): (line: string, start: number, end: number) => string {
  let last = '\n'
  return (line, start, end) => {
    if (end - start !== last.length || !line.startsWith(last, start)) last = apart(line.slice(start, end))
    return last
  }
}

/** Copies a short part of a line: V8 would keep the whole text in memory for it. */
const apart = (part: string): string => ` ${part}`.slice(1)

/** Returns a function that gives each line its compressed body, in their order; null if that does not match its checksum. */
function createBodies({ compressed, compressedLengths, begun }: PackedLines): (head: string) => string | null {
  let start = 0
  const frames = compressedLengths.map((length) => {
    start += length
    return compressed.subarray(start - length, start)
  })
  const together = frames.length > 1 ? decompressTogether(frames) : null
  let next = 0
  return (head) => {
    const frame = frames[next]
    const found = together?.[next]
    next += 1
    const crcEnd = head.indexOf('\n')
    const crc = Number(head.slice(0, crcEnd))
    const headSum = crc32(head.slice(crcEnd + 1), begun)
    if (found !== undefined && crc32(found, headSum) === crc) return found.toString()
    const body = decompressBody(frame)
    return crc32(body, headSum) === crc ? body : null
  }
}
