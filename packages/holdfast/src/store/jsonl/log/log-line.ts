import { crc32 } from 'node:zlib'
import type { CatalogueEntry, ReadRecord } from '@holdfast/core/ports'
import { blobsOf, type Event, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'

export const logFormat = 'holdfast-log'
export const logVersion = 1

/** The first line of a session's file: what it is, whose past it shares, and its row as it was when the file was made. */
export type LogHeader = {
  readonly session: SessionId
  readonly parent: SessionId | null
  readonly base: Seq
  readonly entry: CatalogueEntry
}

/** A record as a line holds it; `body` is its event, encoded. */
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

/** What a line says of the write it belongs to, and of the batch that it begins. */
export type WriteMarks = {
  /** How many lines of the same write come before and after it: a write of which one is missing counts for nothing. */
  readonly prior: number
  readonly more: number
  /** Whether the batch holds the answer of which the draft was a part. */
  readonly endsDraft: boolean
  readonly blobs: readonly string[]
}

/** What the index keeps of a line. */
export type LineMeta = {
  readonly seq: Seq
  readonly at: string
  readonly type: string
  readonly ref: Seq | null
  readonly commandId: string | null
  readonly prior: number
  readonly more: number
  readonly endsDraft: boolean
}

const eventMark = ',"event":'
const crcMark = ',"crc":"'
const sealBytes = `${crcMark}00000000"}`.length

/** Closes an open JSON object with a checksum over its text and the name it is kept under; ends the line. */
export function appendChecksum(name: string, open: string): string {
  return `${open}${crcMark}${checksum(name, open)}"}\n`
}

/** The checksum that a sealed line carries, if it is the right one. */
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

/** The header, `too_new` when a later form wrote it, `foreign` when it is no line of ours, or `damaged`. */
export function parseHeader(session: SessionId, line: Buffer): LogHeader | 'too_new' | 'foreign' | 'damaged' {
  const text = line.toString('utf8')
  if (!text.startsWith(`{"format":"${logFormat}"`)) return 'foreign'
  if (readChecksum(session, line) === null) return 'damaged'
  const header = JSON.parse(text) as LogHeader & { readonly version: number } // sealed by us
  return header.version > logVersion ? 'too_new' : header
}

export function encodeLine(session: SessionId, record: LineRecord, marks: WriteMarks): string {
  const { seq, at, type, v, by, commandId, ref, body } = record
  const { prior, more, endsDraft, blobs } = marks
  const facts = JSON.stringify({
    ...{ seq, at, type, v },
    ...(by !== null && { client: by }),
    ...(commandId !== null && { commandId }),
    ...(ref !== null && { ref }),
    ...(prior > 0 && { prior }),
    ...(more > 0 && { more }),
    ...(endsDraft && { endsDraft }),
    ...(blobs.length > 0 && { blobs }),
  })
  return appendChecksum(session, `${facts.slice(0, -1)}${eventMark}${body}`)
}

type Facts = Partial<LineMeta> &
  Pick<LineMeta, 'seq' | 'at' | 'type'> &
  Partial<Pick<WriteMarks, 'blobs'>> & { readonly v: number; readonly client?: string }

/** What a line says, without its event; null when it is not as it was written. */
export function parseLineMeta(session: SessionId, line: Buffer): LineMeta | null {
  if (readChecksum(session, line) === null) return null
  const facts = parseMeta(line)
  if (facts === null) return null
  const { seq, at, type, ref = null, commandId = null, prior = 0, more = 0, endsDraft = false } = facts
  return { seq, at, type, ref, commandId, prior, more, endsDraft }
}

/** The record a line holds; lost when the line is not the one that was written for this place. */
export function parseRecord(session: SessionId, seq: Seq, line: Buffer): ReadRecord {
  const facts = readChecksum(session, line) === null ? null : parseMeta(line)
  if (facts?.seq !== seq) return { seq, lost: true }
  const { at, v, client, commandId } = facts
  const event = eventOf(line)
  const named = { ...(client !== undefined && { by: client }), ...(commandId !== undefined && { commandId }) }
  return { seq, at, v, ...named, event } as Recorded // sealed by us
}

/** The blobs a line refers to, by its batch and by its event; none where it is not as it was written. */
export function parseBlobs(session: SessionId, line: Buffer): { readonly seq: Seq; readonly blobs: readonly string[] } {
  const facts = readChecksum(session, line) === null ? null : parseMeta(line)
  return facts === null
    ? { seq: 0, blobs: [] }
    : { seq: facts.seq, blobs: [...(facts.blobs ?? []), ...blobsOf(eventOf(line))] }
}

const eventOf = (line: Buffer): Event =>
  JSON.parse(line.toString('utf8', line.indexOf(eventMark) + eventMark.length, line.length - sealBytes)) // sealed by us

/** Quotes within a text are escaped, so the first mark is the one we wrote. */
function parseMeta(line: Buffer): Facts | null {
  const end = line.indexOf(eventMark)
  return end === -1 ? null : (JSON.parse(`${line.toString('utf8', 0, end)}}`) as Facts) // sealed by us
}
