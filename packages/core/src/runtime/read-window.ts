import { clipLine, isOnLine, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'
import { toWindow, type Window, windowEvents } from '../context/window.ts'
import type { Log } from '../ports/log.ts'
import type { WindowPlace } from '../ports/requests.ts'
import { type Spans, walkLine } from './walk-line.ts'

/** Thrown when a record the model must see cannot be read: better no answer than one to another question. */
export class WindowDamaged extends Error {
  override readonly name = 'WindowDamaged'
  readonly seq: Seq

  constructor(seq: Seq) {
    super(`record ${seq} cannot be read`)
    this.seq = seq
  }
}

/**
 * Reads what the model is to see of the line: from the last checkpoint on, and nothing before it but the checkpoint itself,
 * what is pinned, and the prompt of the running turn.
 */
export async function readWindow(
  log: Pick<Log, 'read' | 'readRefs'>,
  id: SessionId,
  { line, seq, checkpoint, pins }: Omit<WindowPlace, 'session'>,
): Promise<Window> {
  const written = checkpoint === null ? null : await readOne(log, id, checkpoint)
  const { summary, keepFrom, prompt } =
    written?.event.type === 'checkpoint.written' ? written.event : { summary: null, keepFrom: 0 }
  const from = Math.max(keepFrom, line[0]?.from ?? 0)
  const older = pins.flatMap(({ message }) => (message < from && isOnLine(line, message) ? [message] : []))
  const [records, asked, ...pinned] = await Promise.all([
    readLine(log, id, clipLine(line, keepFrom, seq)),
    prompt === undefined ? null : readOne(log, id, prompt),
    ...older.map((message) => readOne(log, id, message)),
  ])
  const kept = pinned.filter((record) => record !== null)
  // A call settles on its line, so its outcome has been read with it: only one that was cut off from it is looked up.
  const known = new Set<number>(records.flatMap(({ event }) => (event.type === 'call.settled' ? [event.call] : [])))
  const calls = [...records, ...kept].flatMap(({ seq: call, event }) =>
    event.type === 'call.requested' && !known.has(call) ? [call] : [],
  )
  const others = calls.length === 0 ? [] : (await log.readRefs(id, calls)).map(readable)
  return toWindow({ summary, from, records, settled: [...records, ...others], pinned: kept, prompt: asked })
}

async function readLine(log: Pick<Log, 'read'>, id: SessionId, spans: Spans): Promise<Recorded[]> {
  const records: Recorded[] = []
  for await (const record of walkLine(log, id, spans, { types: [...windowEvents, 'call.settled'] })) {
    records.push(readable(record))
  }
  return records
}

async function readOne(log: Pick<Log, 'read'>, id: SessionId, seq: number): Promise<Recorded | null> {
  const [record] = await log.read(id, { after: seq - 1, upTo: seq, limit: 1 })
  return record ? readable(record) : null
}

function readable(record: Awaited<ReturnType<Log['read']>>[number]): Recorded {
  if ('lost' in record) throw new WindowDamaged(record.seq)
  return record
}
