import { createHash } from 'node:crypto'
import { blobsOf } from '@holdfast/core'
import type { Blobs, Catalogue, Log } from '@holdfast/core/ports'
import type { BlobHash, Fork, Recorded, SessionId } from '@holdfast/protocol'
import { appendChecksum } from '../../store/jsonl/log/log-line.ts'
import type { ExportThread } from './export-thread.ts'
import { recordLine } from './record-line.ts'

export const exportFormat = 'holdfast-export'
export const exportVersion = 1
/** The size of a blob piece; each piece is a line. */
const pieceBytes = 384 * 1024
/** Records are read in small pages: each may have megabytes. */
const pageRecords = 16
const pageChars = 256 * 1024

export type ExportedLog = Pick<Log, 'read'> & Pick<Catalogue, 'entry'>

/**
 * Writes a session without loss, each line with a checksum. For each ancestor and the session itself, oldest first: a
 * header, then the records as in a log, each blob before the first record that refers to it. A redacted line may be several pieces.
 */
export async function* sessionLines(
  log: ExportedLog,
  id: SessionId,
  blobs: Pick<Blobs, 'open'> | null,
  redactor: Pick<ExportThread, 'redactedLine'> | null,
): AsyncGenerator<string> {
  const written = new Set<BlobHash>()
  for (const { upTo, ...start } of await listSpans(log, id)) {
    const { session, base } = start
    const head = { format: exportFormat, version: exportVersion, ...start, ...(redactor && { redacted: true }) }
    yield appendChecksum(session, JSON.stringify(head).slice(0, -1))
    for (let after = base; after < upTo; ) {
      const page = await log.read(id, { after, upTo, limit: pageRecords, charsMax: pageChars })
      if (page.length === 0) return
      for (const record of page) {
        after = record.seq
        if (blobs && !('lost' in record)) yield* blobLines(record, session, blobs, written)
        if (redactor) yield* redactor.redactedLine(record, session)
        else yield recordLine(record, session) // whole, so that a server counts what a slow client makes it hold
      }
    }
  }
}

/** Returns the sessions that hold the records, oldest first. */
async function listSpans(log: ExportedLog, id: SessionId) {
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
    let pending: Uint8Array = new Uint8Array(0)
    let piece = 0
    const line = (part: Uint8Array, isLast: boolean) =>
      appendChecksum(
        session,
        JSON.stringify({ blob, piece: piece++, isLast, base64: Buffer.from(part).toString('base64') }).slice(0, -1),
      )
    for await (const chunk of bytes) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      for (; pending.length > pieceBytes; pending = pending.subarray(pieceBytes))
        yield line(pending.subarray(0, pieceBytes), false)
    }
    yield line(pending, true)
  }
}

/** Verifies a blob before it is written: pieces that were written cannot be taken back. */
async function isWhole(hash: BlobHash, blobs: Pick<Blobs, 'open'>): Promise<boolean> {
  const digest = createHash('sha256')
  for await (const chunk of (await blobs.open(hash)) ?? []) digest.update(chunk)
  return digest.digest('hex') === hash
}
