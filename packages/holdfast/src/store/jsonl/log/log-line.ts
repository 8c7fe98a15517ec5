import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { CatalogueEntry, Charge, ReadRecord } from '@holdfast/core/ports'
import { blobsOf, type Event, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'

export const logFormat = 'holdfast-log'
export const logVersion = 1

/** The first line of a session's file: format, parent session, and the catalogue entry at creation. */
export type LogHeader = {
  readonly session: SessionId
  readonly parent: SessionId | null
  readonly base: Seq
  readonly entry: CatalogueEntry
}

/** A record as stored in a line; `body` is the encoded event. */
export type LineRecord = {
  readonly seq: Seq
  readonly at: string
  readonly type: string
  readonly v: number
  readonly by: string | null
  readonly commandId: string | null
  readonly ref: Seq | null
  readonly body: string
}

/** The fields of a line about its write and the batch that it starts. */
type WriteMarks = {
  /** How many lines of the same write come before and after it: a last write with a missing line is ignored. */
  readonly prior: number
  readonly more: number
  /** True if the batch holds the answer that the draft was part of. */
  readonly endsDraft: boolean
  readonly blobs: readonly string[]
  /** What the model calls of the batch have cost. */
  readonly charge?: Charge | undefined
  /** The hash of the command that made the batch. */
  readonly commandHash?: string | undefined
}

/** The index entry of a line. */
export type LineMeta = Omit<LineRecord, 'v' | 'by' | 'body'> & Omit<WriteMarks, 'blobs'>

const eventMark = ',"event":'
const crcMark = ',"crc":"'
const sealBytes = `${crcMark}00000000"}`.length

/** Closes an open JSON object with a checksum over its text and `name`, and ends the line. */
export function appendChecksum(name: string, open: string): string {
  return `${open}${crcMark}${checksum(name, open)}"}\n`
}

/** Returns the checksum of a line; null if it does not match. */
export function readChecksum(name: string, line: Buffer): string | null {
  const open = line.length - sealBytes
  if (open <= 0 || line.toString('latin1', open, open + crcMark.length) !== crcMark) return null
  const crc = line.toString('latin1', open + crcMark.length, line.length - 2)
  if (line.toString('latin1', line.length - 2) !== '"}') return null
  return checksum(name, line.subarray(0, open)) === crc ? crc : null
}

const checksum = (name: string, open: string | Buffer): string =>
  crc32(open, crc32(`${name}\n`))
    .toString(16)
    .padStart(8, '0')

export function encodeHeader({ session, parent, base, entry }: LogHeader): string {
  const open = JSON.stringify({ format: logFormat, version: logVersion, session, parent, base, entry })
  return appendChecksum(session, open.slice(0, -1))
}

/** Returns the header, or why there is none: `too_new` (a newer version), `foreign` (not our format), `damaged`. */
export function parseHeader(session: SessionId, line: Buffer): LogHeader | 'too_new' | 'foreign' | 'damaged' {
  const text = line.toString('utf8')
  if (!text.startsWith(`{"format":"${logFormat}"`)) return 'foreign'
  if (readChecksum(session, line) === null) return 'damaged'
  const header = JSON.parse(text) as LogHeader & { readonly version: number } // checksum verified
  return header.version > logVersion ? 'too_new' : header
}

export function encodeLine(session: SessionId, record: LineRecord, marks: WriteMarks): string {
  const { seq, at, type, v, by, commandId, ref, body } = record
  const { prior, more, endsDraft, blobs, charge, commandHash } = marks
  const meta = JSON.stringify({
    seq,
    at,
    type,
    v,
    ...(by !== null && { client: by }),
    ...(commandId !== null && { commandId }),
    ...(commandHash !== undefined && { commandHash }),
    ...(ref !== null && { ref }),
    ...(prior > 0 && { prior }),
    ...(more > 0 && { more }),
    ...(endsDraft && { endsDraft }),
    ...(blobs.length > 0 && { blobs }),
    ...(charge && { charge }),
  })
  return appendChecksum(session, `${meta.slice(0, -1)}${eventMark}${body}`)
}

type StoredMeta = Partial<LineMeta> &
  Pick<LineMeta, 'seq' | 'at' | 'type'> &
  Partial<Pick<WriteMarks, 'blobs'>> & { readonly v: number; readonly client?: string }

/** Parses a line without its event; returns null if it is damaged. */
export function parseLineMeta(session: SessionId, line: Buffer): LineMeta | null {
  if (readChecksum(session, line) === null) return null
  const meta = parseMeta(line)
  if (meta === null) return null
  const { seq, at, type, ref = null, commandId = null, prior = 0, more = 0, endsDraft = false } = meta
  return { seq, at, type, ref, commandId, prior, more, endsDraft, commandHash: meta.commandHash, charge: meta.charge }
}

/** Parses the record of a line; it is lost if the line is damaged or has another seq. */
export function parseRecord(session: SessionId, seq: Seq, line: Buffer): ReadRecord {
  const meta = readChecksum(session, line) === null ? null : parseMeta(line)
  if (meta?.seq !== seq) return { seq, lost: true }
  const { at, v, client, commandId } = meta
  const event = parseEvent(line)
  const named = { ...(client !== undefined && { by: client }), ...(commandId !== undefined && { commandId }) }
  return { seq, at, v, ...named, event } as Recorded // checksum verified
}

/** Returns the blobs that a line refers to, by its batch and by its event; none if it is damaged. */
export function parseBlobs(session: SessionId, line: Buffer): { readonly seq: Seq; readonly blobs: readonly string[] } {
  const meta = readChecksum(session, line) === null ? null : parseMeta(line)
  return meta === null
    ? { seq: 0, blobs: [] }
    : { seq: meta.seq, blobs: [...(meta.blobs ?? []), ...blobsOf(parseEvent(line))] }
}

const parseEvent = (line: Buffer): Event =>
  JSON.parse(line.toString('utf8', line.indexOf(eventMark) + eventMark.length, line.length - sealBytes)) // checksum verified

/** Parses the part before the event. Quotes in strings are escaped, so the first mark is ours. */
function parseMeta(line: Buffer): StoredMeta | null {
  const end = line.indexOf(eventMark)
  return end === -1 ? null : (JSON.parse(`${line.toString('utf8', 0, end)}}`) as StoredMeta) // checksum verified
}

const chunkBytes = 1024 * 1024
const lineBreak = 10

/** Calls `onLine` for each line after `from`; its buffer is valid only during the call. Returns the file's size. */
export async function scanLines(
  file: FileHandle,
  onLine: (line: Buffer, offset: number, isEnded: boolean) => void,
  from = 0,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let partial: Buffer[] = []
  let [offset, position] = [from, from]
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
    if (bytesRead === 0) break
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    let begin = 0
    for (let end = read.indexOf(lineBreak); end !== -1; end = read.indexOf(lineBreak, begin)) {
      const rest = read.subarray(begin, end)
      const line = partial.length === 0 ? rest : Buffer.concat([...partial, rest])
      onLine(line, offset, true)
      partial = []
      offset += line.length + 1
      begin = end + 1
    }
    if (begin < bytesRead) partial.push(Buffer.from(read.subarray(begin)))
  }
  if (partial.length > 0) onLine(Buffer.concat(partial), offset, false)
  return position
}
