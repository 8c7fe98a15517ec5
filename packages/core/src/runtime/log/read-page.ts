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

export type LinePage = {
  readonly messages: readonly Message[]
  readonly before: MessageId | null
  readonly after: MessageId | null
}

export type LineReader = Pick<Log, 'read' | 'readRefs'>

/**
 * Reads a page of the line that ends at `head`, oldest first: a bounded range scan, and one look-up for the outcomes of
 * its calls. An unreadable record is shown as a notice in its place.
 */
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
  // One extra record tells whether there are more; read backwards, it is also the parent of the oldest.
  const found = isForward
    ? await scan(log, id, line, from, to, limit + 1, false)
    : (await scan(log, id, line, from, to, limit + 1, true)).toReversed()
  const hasMore = found.length > limit
  const kept = isForward ? found.slice(0, limit) : found.slice(hasMore ? 1 : 0)
  const oldest = isForward ? (await scan(log, id, line, 0, from - 1, 1, true))[0] : hasMore ? found[0] : undefined
  const messages = await assemble(log, id, kept, oldest?.seq ?? null)

  const first = messages[0]?.id ?? null
  const last = messages.at(-1)?.id ?? null
  if (isForward) return { messages, before: oldest && first !== null ? first : null, after: hasMore ? last : null }
  return { messages, before: hasMore ? first : null, after: request.before === undefined ? null : last }
}

async function scan(
  log: LineReader,
  id: SessionId,
  line: Line,
  from: Seq,
  to: Seq,
  limit: number,
  newestFirst: boolean,
) {
  const spans = clipLine(line, from, to)
  const found: ReadRecord[] = []
  for (const span of newestFirst ? spans.toReversed() : spans) {
    let { from: start, to: end } = span
    while (found.length < limit && start <= end) {
      const page = await log.read(id, {
        after: start - 1,
        upTo: end,
        limit: limit - found.length,
        newestFirst,
        types: messageEvents,
      })
      const last = page.at(-1)
      if (!last) break
      found.push(...page)
      if (newestFirst) end = last.seq - 1
      else start = last.seq + 1
    }
  }
  return found
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
