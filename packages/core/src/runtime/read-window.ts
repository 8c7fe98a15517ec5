import { type BlobHash, clipLine, limits, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'
import { toWindow, type Window, windowEvents } from '../context/window.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Log } from '../ports/log.ts'
import type { SessionState } from '../session/state.ts'

/** Thrown when a record the model must see cannot be read: better no answer than one to another question. */
export class WindowDamaged extends Error {
  override readonly name = 'WindowDamaged'
  readonly seq: Seq

  constructor(seq: Seq) {
    super(`record ${seq} cannot be read`)
    this.seq = seq
  }
}

/** Reads what the model is to see of the line: from the last checkpoint on, and nothing before it. */
export async function readWindow(
  log: Pick<Log, 'read' | 'readRefs'>,
  id: SessionId,
  state: SessionState,
): Promise<Window> {
  const checkpoint = state.checkpoint === null ? null : await readOne(log, id, state.checkpoint)
  const { summary, keepFrom } =
    checkpoint?.event.type === 'checkpoint.written' ? checkpoint.event : { summary: null, keepFrom: 0 }
  const records: Recorded[] = []
  for (const { from, to } of clipLine(state.line, keepFrom, state.seq)) {
    let after = from - 1
    for (;;) {
      const page = await log.read(id, { after, upTo: to, limit: limits.pageRecordsMax, types: windowEvents })
      records.push(...page.map(readable))
      const last = page.at(-1)
      if (!last || page.length < limits.pageRecordsMax) break
      after = last.seq
    }
  }
  const calls = records.flatMap(({ seq, event }) => (event.type === 'call.requested' ? [seq] : []))
  const settled = calls.length === 0 ? [] : (await log.readRefs(id, calls)).map(readable)
  return toWindow(summary, records, settled)
}

async function readOne(log: Pick<Log, 'read'>, id: SessionId, seq: number): Promise<Recorded | null> {
  const [record] = await log.read(id, { after: seq - 1, upTo: seq, limit: 1 })
  return record ? readable(record) : null
}

function readable(record: Awaited<ReturnType<Log['read']>>[number]): Recorded {
  if ('lost' in record) throw new WindowDamaged(record.seq)
  return record
}

/** The bytes of the window's file parts, each read once. A blob that is gone is left out, and said so in the request. */
export async function readFiles(blobs: Blobs, window: Window): Promise<ReadonlyMap<BlobHash, Uint8Array>> {
  const files = new Map<BlobHash, Uint8Array>()
  for (const { event } of window.messages) {
    if (event.type !== 'user.said') continue
    for (const part of event.content) {
      if (part.type !== 'file' || files.has(part.blob)) continue
      const bytes = await readBlob(blobs, part.blob)
      if (bytes) files.set(part.blob, bytes)
    }
  }
  return files
}

export async function readBlob(blobs: Blobs, hash: BlobHash): Promise<Uint8Array | null> {
  const stream = await blobs.open(hash)
  if (!stream) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
