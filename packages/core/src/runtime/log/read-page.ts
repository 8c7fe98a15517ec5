import {
  clipLine,
  createTranscript,
  type Line,
  limits,
  type Message,
  MessageId,
  messageEvents,
  messageOf,
  type PageRequest,
  type Recorded,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import { ownSlice } from '../../ports/own-slice.ts'
import type { Log, ReadRecord } from '../../ports/store/log.ts'
import { estimateChars, jsonBytesAtMost } from './record-size.ts'
import { type Spans, walkLine } from './walk-line.ts'

export type LinePage = {
  readonly messages: readonly Message[]
  readonly before: MessageId | null
  readonly after: MessageId | null
}

export type LineReader = Pick<Log, 'read' | 'readRefs'>

/**
 * Reads a page of the line that ends at `head`, oldest first. It has at most `limit` messages and, unless one alone is
 * larger, `limits.pageBytesMax` bytes. An unreadable record becomes a notice in its place.
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
  const page = await scan(log, id, clipLine(line, from, to), limit, !isForward)
  const earlier = isForward ? await findLast(log, id, clipLine(line, 0, from - 1)) : null
  const assembled = assemble(isForward ? page.records : page.records.toReversed(), page.outcomes, earlier)
  const countMax = page.isCut ? Math.min(limit, page.records.length - 1) : limit
  const count = await countFitting(isForward ? assembled : assembled.toReversed(), countMax)
  const hasMore = assembled.length > count
  const messages = isForward ? assembled.slice(0, count) : assembled.slice(assembled.length - count)

  const first = messages[0]?.id ?? null
  const last = messages.at(-1)?.id ?? null
  if (isForward) return { messages, before: earlier !== null ? first : null, after: hasMore ? last : null }
  return { messages, before: hasMore ? first : null, after: request.before === undefined ? null : last }
}

type ScannedPage = {
  readonly records: readonly ReadRecord[]
  /** The records about the calls among them. */
  readonly outcomes: readonly ReadRecord[]
  /** Whether the last record is beyond the page, and only shows that there are more. */
  readonly isCut: boolean
}

/** How many calls the store is asked about at once. */
export const callsAtOnce = 32
/** Counting records and encoding a message take a slice for each such length. */
const charsPerSlice = 128 * 1024

/** Reads records until they fill a page, and one more. Read backwards, that one is also the parent of the oldest. */
async function scan(
  log: LineReader,
  id: SessionId,
  spans: Spans,
  limit: number,
  newestFirst: boolean,
): Promise<ScannedPage> {
  const records: ReadRecord[] = []
  const outcomes: ReadRecord[] = []
  let calls: Seq[] = []
  let [chars, slices] = [0, 0]
  const add = async (record: ReadRecord, list: ReadRecord[]) => {
    list.push(record)
    chars += 'lost' in record ? 0 : estimateChars(record.event)
    if (chars <= (slices + 1) * charsPerSlice) return
    slices = Math.floor(chars / charsPerSlice)
    await ownSlice()
  }
  const readOutcomes = async () => {
    for (const record of calls.length === 0 ? [] : await log.readRefs(id, calls)) await add(record, outcomes)
    calls = []
  }
  for await (const record of walkLine(log, id, spans, { types: messageEvents, newestFirst, pageSize: limit + 1 })) {
    const isBeyond = records.length === limit || chars > limits.pageBytesMax
    await add(record, records)
    if (!('lost' in record) && record.event.type === 'call.requested') calls.push(record.seq)
    if (isBeyond || calls.length === callsAtOnce) await readOutcomes()
    if (isBeyond) return { records, outcomes, isCut: true }
  }
  await readOutcomes()
  return { records, outcomes, isCut: false }
}

/** Returns the seq of the last message of these spans. */
async function findLast(log: LineReader, id: SessionId, spans: Spans): Promise<Seq | null> {
  for await (const { seq } of walkLine(log, id, spans, { types: messageEvents, newestFirst: true, pageSize: 1 }))
    return seq
  return null
}

/** Returns how many of the messages fit on a page: at least one. Each is encoded in a slice of its own. */
async function countFitting(messages: readonly Message[], limit: number): Promise<number> {
  if (jsonBytesAtMost(messages, limits.pageBytesMax) <= limits.pageBytesMax) return Math.min(messages.length, limit)
  let [count, bytes] = [0, 0]
  for (const message of messages.slice(0, limit)) {
    if (estimateChars(message) > charsPerSlice) await ownSlice()
    bytes += Buffer.byteLength(JSON.stringify(message))
    if (count > 0 && bytes > limits.pageBytesMax) break
    count++
  }
  return count
}

/** Folds records and the outcomes of their calls into messages; `parent` is the seq of the message before them. */
export function assemble(
  records: readonly ReadRecord[],
  outcomes: readonly ReadRecord[],
  parent: Seq | null,
): readonly Message[] {
  const before = parent === null ? null : MessageId.parse(parent)
  if (outcomes.length === 0 && records.every(isReadable)) return toMessages(records, before)
  const transcript = createTranscript()
  const near = records.find(isReadable)?.at
  for (const record of records) {
    if (isReadable(record)) transcript.add(record)
    else transcript.addLost(record, near)
  }
  for (const record of outcomes.toSorted((left, right) => left.seq - right.seq)) {
    if (isReadable(record)) transcript.add(record) // a lost outcome is a notice at its own position
  }
  const [first, ...rest] = transcript.messages
  return first ? [{ ...first, parent: before }, ...rest] : []
}

const isReadable = (record: ReadRecord): record is Recorded => !('lost' in record)

/** Turns each record into its message: none of them changes another. A transcript would index them, which takes longer. */
function toMessages(records: readonly Recorded[], parent: MessageId | null): readonly Message[] {
  const messages: Message[] = []
  for (const record of records) {
    const message = messageOf(record, messages.at(-1)?.id ?? parent)
    if (message) messages.push(message)
  }
  return messages
}
