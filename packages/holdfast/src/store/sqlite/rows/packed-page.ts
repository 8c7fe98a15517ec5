import { crc32 } from 'node:zlib'
import type { LostRecord } from '@holdfast/protocol'
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

/** Returns the records of a page. */
export function unpackPage(page: PackedPage): StoredPage {
  const records: (StoredRecord | LostRecord)[] = []
  for (const part of page) {
    if (typeof part === 'number') records.push({ seq: part, lost: true })
    else if (typeof part === 'string') records.push(createDecoder()(part))
    else unpackLines(part, records)
  }
  return records
}

function unpackLines(packed: PackedLines, records: (StoredRecord | LostRecord)[]): void {
  const decode = createDecoder()
  const nextBody = packed.compressedLengths.length === 0 ? null : createBodies(packed)
  const { buffer, byteOffset, byteLength } = packed.lines
  for (const line of Buffer.from(buffer, byteOffset, byteLength).toString().split(lineSeparator)) {
    const record = decode(line)
    if (record.body !== '') records.push(record)
    else {
      const body = nextBody?.(line) ?? null
      records.push(body === null ? { seq: record.seq, lost: true } : { ...record, body })
    }
  }
}

/** Returns a function that decodes lines, one after the other. */
function createDecoder(): (line: string) => StoredRecord {
  let lastAt = '\n'
  /** Copies a short part of a line: V8 would keep the whole text in memory for it. */
  const apart = (part: string): string => ` ${part}`.slice(1)
  return (line) => {
    const crcEnd = line.indexOf('\n')
    const seqEnd = line.indexOf('\n', crcEnd + 1)
    const atEnd = line.indexOf('\n', seqEnd + 1)
    const typeEnd = line.indexOf('\n', atEnd + 1)
    const vEnd = line.indexOf('\n', typeEnd + 1)
    const byEnd = line.indexOf('\n', vEnd + 1)
    const commandEnd = line.indexOf('\n', byEnd + 1)
    const refEnd = line.indexOf('\n', commandEnd + 1)
    // Records that were appended together have the same time.
    const isSameTime = atEnd - seqEnd - 1 === lastAt.length && line.startsWith(lastAt, seqEnd + 1)
    if (!isSameTime) lastAt = apart(line.slice(seqEnd + 1, atEnd))
    return {
      seq: Number(line.slice(crcEnd + 1, seqEnd)),
      at: lastAt,
      type: line.slice(atEnd + 1, typeEnd),
      v: Number(line.slice(typeEnd + 1, vEnd)),
      by: byEnd === vEnd + 1 ? null : apart(line.slice(vEnd + 1, byEnd)),
      commandId: commandEnd === byEnd + 1 ? null : apart(line.slice(byEnd + 1, commandEnd)),
      ref: refEnd === commandEnd + 1 ? null : Number(line.slice(commandEnd + 1, refEnd)),
      body: line.slice(refEnd + 1),
    }
  }
}

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
