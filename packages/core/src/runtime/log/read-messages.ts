import { clipLine, type Line, type Message, messageEvents, type Seq, type SessionId } from '@holdfast/protocol'
import type { ReadRecord } from '../../ports/store/log.ts'
import { assemble, callsAtOnce, type LineReader } from './read-page.ts'
import { walkPages } from './walk-line.ts'

/**
 * Reads all messages of the line that ends at `head`, oldest first. Unlike `readPage` it reads each record once, and reads
 * ahead. An unreadable record becomes a notice in its place.
 */
export async function* readMessages(
  log: LineReader,
  id: SessionId,
  line: Line,
  head: Seq,
): AsyncGenerator<readonly Message[]> {
  let parent: Seq | null = null
  for await (const page of walkPages(log, id, clipLine(line, 0, head), messageEvents)) {
    for (const records of splitAtCalls(page)) {
      const calls = records.flatMap((record) => (isCall(record) ? [record.seq] : []))
      const outcomes = calls.length === 0 ? [] : await log.readRefs(id, calls)
      const messages = assemble(records, outcomes, parent)
      parent = messages.at(-1)?.id ?? parent
      yield messages
    }
  }
}

const isCall = (record: ReadRecord): boolean => !('lost' in record) && record.event.type === 'call.requested'

/** Splits records so that no part has more calls than the store is asked about at once: their outcomes may be long. */
function* splitAtCalls(records: readonly ReadRecord[]): Generator<readonly ReadRecord[]> {
  let [first, calls] = [0, 0]
  for (const [index, record] of records.entries()) {
    if (!isCall(record)) continue
    if (calls === callsAtOnce) {
      yield records.slice(first, index)
      first = index
      calls = 0
    }
    calls += 1
  }
  if (first < records.length) yield first === 0 ? records : records.slice(first)
}
