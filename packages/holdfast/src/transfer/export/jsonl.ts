import { createHash } from 'node:crypto'
import { blobsOf } from '@holdfast/core'
import type { Blobs, Catalogue, Log, ReadRecord } from '@holdfast/core/ports'
import { type BlobHash, type Fork, limits, type Recorded, refOf, type Seq, type SessionId } from '@holdfast/protocol'
import { appendChecksum, encodeLine } from '../../store/jsonl/log/log-line.ts'
import { redactValue } from './redact.ts'

export const exportFormat = 'holdfast-export'
export const exportVersion = 1
/** A blob is written in pieces of this size, a line each. */
const pieceBytes = 384 * 1024

export type ExportedLog = Pick<Log, 'read'> & Pick<Catalogue, 'entry'>

type Stretch = {
  readonly session: SessionId
  readonly parent: SessionId | null
  readonly base: Seq
  readonly upTo: Seq
}

/**
 * A session without loss, one sealed line each: for it and each session whose past it shares, oldest first, a header,
 * then its records as a log has them, each blob before the first record that names it. Redacted, blobs are left out.
 */
export async function* sessionLines({
  log,
  blobs,
  id,
  isRedacted,
}: {
  readonly log: ExportedLog
  readonly blobs: Pick<Blobs, 'open'> | null
  readonly id: SessionId
  readonly isRedacted: boolean
}): AsyncGenerator<string> {
  const written = new Set<BlobHash>()
  for (const stretch of await stretchesOf(log, id)) {
    const { session, parent, base, upTo } = stretch
    const head = {
      format: exportFormat,
      version: exportVersion,
      session,
      parent,
      base,
      ...(isRedacted && { redacted: true }),
    }
    yield appendChecksum(session, JSON.stringify(head).slice(0, -1))
    for (let after = base; after < upTo; ) {
      const page = await log.read(id, { after, upTo, limit: limits.pageRecordsMax })
      if (page.length === 0) return
      for (const record of page) {
        after = record.seq
        if (blobs && !isRedacted && !('lost' in record)) yield* blobLines(record, session, blobs, written)
        yield recordLine(record, session, isRedacted)
      }
    }
  }
}

/** Whose records these are, oldest first. */
async function stretchesOf(log: ExportedLog, id: SessionId): Promise<readonly Stretch[]> {
  const row = await log.entry(id)
  if (row === null) return []
  const { head, base } = row
  const [first] = await log.read(id, { after: base, upTo: base + 1, limit: 1 })
  const lineage: Fork['lineage'] =
    first && !('lost' in first) && first.event.type === 'session.started' ? (first.event.fork?.lineage ?? []) : []
  return [...lineage, { session: id, upTo: head }].map(({ session, upTo }, index) => {
    const before = lineage[index - 1]
    return { session, parent: before?.session ?? null, base: before?.upTo ?? 0, upTo }
  })
}

function recordLine(record: ReadRecord, session: SessionId, isRedacted: boolean): string {
  if ('lost' in record) return appendChecksum(session, JSON.stringify(record).slice(0, -1))
  const { seq, at, v, by = null, commandId = null } = record
  const event = isRedacted ? redactValue(record.event) : record.event
  const line = { seq, at, type: event.type, v, by, commandId, ref: refOf(event), body: JSON.stringify(event) }
  return encodeLine(session, line, { prior: 0, more: 0, endsDraft: false, blobs: [] })
}

async function* blobLines(
  { event }: Recorded,
  session: SessionId,
  blobs: Pick<Blobs, 'open'>,
  written: Set<BlobHash>,
): AsyncGenerator<string> {
  for (const blob of blobsOf(event)) {
    if (written.has(blob)) continue
    written.add(blob)
    const bytes = (await isWhole(blob, blobs)) ? await blobs.open(blob) : null
    if (bytes === null) continue
    let held: Uint8Array = new Uint8Array(0)
    let piece = 0
    const line = (part: Uint8Array, isLast: boolean) =>
      appendChecksum(
        session,
        JSON.stringify({ blob, piece: piece++, isLast, base64: Buffer.from(part).toString('base64') }).slice(0, -1),
      )
    for await (const chunk of bytes) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      for (; held.length > pieceBytes; held = held.subarray(pieceBytes)) yield line(held.subarray(0, pieceBytes), false)
    }
    yield line(held, true)
  }
}

/** Read through before it is written: pieces of one that turns out to be damaged could not be taken back. */
async function isWhole(hash: BlobHash, blobs: Pick<Blobs, 'open'>): Promise<boolean> {
  const digest = createHash('sha256')
  for await (const chunk of (await blobs.open(hash)) ?? []) digest.update(chunk)
  return digest.digest('hex') === hash
}
