import {
  clipLine,
  createTranscript,
  type Line,
  limits,
  type Message,
  MessageId,
  messageEvents,
  type PageRequest,
  type Recorded,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import type { Log, ReadRecord } from '../../ports/log.ts'
import { type Spans, walkLine } from './walk-line.ts'

export type LinePage = {
  readonly messages: readonly Message[]
  readonly before: MessageId | null
  readonly after: MessageId | null
}

export type LineReader = Pick<Log, 'read' | 'readRefs'>

/** Reads a page of the line that ends at `head`, oldest first. An unreadable record becomes a notice in its place. */
export async function readPage(
  log: LineReader,
  id: SessionId,
  line: Line,
  head: Seq,
  request: PageRequest,
): Promise<LinePage> {
  const limit = Math.min(request.limit ?? limits.snapshotMessages, limits.pageMessagesMax)
  const isForward = request.after !== undefined && request.before === undefined
  const from = (request.after ?? 0) + 1
  const to = request.before === undefined ? head : Math.min(request.before - 1, head)
  // One extra record shows whether there are more; read backwards, it is also the parent of the oldest.
  const scanned = await scan(log, id, clipLine(line, from, to), limit + 1, !isForward)
  const found = isForward ? scanned : scanned.toReversed()
  const hasMore = found.length > limit
  const kept = isForward ? found.slice(0, limit) : found.slice(hasMore ? 1 : 0)
  const [earlier] = isForward ? await scan(log, id, clipLine(line, 0, from - 1), 1, true) : []
  const oldest = isForward ? earlier : hasMore ? found[0] : undefined
  const messages = await assemble(log, id, kept, oldest?.seq ?? null)

  const first = messages[0]?.id ?? null
  const last = messages.at(-1)?.id ?? null
  if (isForward) return { messages, before: oldest && first !== null ? first : null, after: hasMore ? last : null }
  return { messages, before: hasMore ? first : null, after: request.before === undefined ? null : last }
}

function scan(log: LineReader, id: SessionId, spans: Spans, limit: number, newestFirst: boolean) {
  const records = walkLine(log, id, spans, { types: messageEvents, newestFirst, pageSize: limit })
  return Array.fromAsync(take(records, limit))
}

async function* take(records: AsyncIterable<ReadRecord>, limit: number): AsyncGenerator<ReadRecord> {
  let count = 0
  for await (const record of records) {
    yield record
    if (++count === limit) return
  }
}

async function assemble(
  log: LineReader,
  id: SessionId,
  records: readonly ReadRecord[],
  parent: Seq | null,
): Promise<readonly Message[]> {
  const calls = records.flatMap((record) =>
    !('lost' in record) && record.event.type === 'call.requested' ? [record.seq] : [],
  )
  const outcomes = calls.length === 0 ? [] : await log.readRefs(id, calls)
  const transcript = createTranscript()
  const near = records.find((record): record is Recorded => !('lost' in record))?.at
  for (const record of [...records, ...outcomes]) {
    if (!('lost' in record)) transcript.add(record)
    else transcript.addLost(record, near)
  }
  const [first, ...rest] = transcript.messages
  return first ? [{ ...first, parent: parent === null ? null : MessageId.parse(parent) }, ...rest] : []
}
