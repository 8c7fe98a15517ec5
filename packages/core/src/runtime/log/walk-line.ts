import { type clipLine, type EventType, limits, type Seq, type SessionId } from '@holdfast/protocol'
import type { Log, ReadRecord } from '../../ports/store/log.ts'
import { isShorterThan } from './record-size.ts'

/** Ranges of seqs, as `clipLine` returns them. */
export type Spans = ReturnType<typeof clipLine>

export type WalkOptions = {
  readonly types: readonly EventType[]
  readonly newestFirst?: boolean | undefined
  /** How many records to read at once; few when looking for a single one. */
  readonly pageSize?: number | undefined
}

/** Yields the records of a line, reading on demand: pages of bounded length and size. */
export async function* walkLine(
  log: Pick<Log, 'read'>,
  id: SessionId,
  spans: Spans,
  { types, newestFirst = false, pageSize: limit = limits.pageRecordsMax }: WalkOptions,
): AsyncGenerator<ReadRecord> {
  for (const span of newestFirst ? spans.toReversed() : spans) {
    let { from, to } = span
    while (from <= to) {
      const charsMax = limits.readCharsMax
      const page = await log.read(id, { after: from - 1, upTo: to, limit, charsMax, newestFirst, types })
      yield* page
      const last = page.at(-1)
      if (!last || (page.length < limit && isWithin(page, charsMax))) break
      if (newestFirst) to = last.seq - 1
      else from = last.seq + 1
    }
  }
}

/** The seqs of the first part of a line. Each later part is twice as long as the one before, up to a page. */
const firstPartSeqs = 128
/** How many parts the store is asked for at once. With two, a delay on one of the threads keeps the other one waiting. */
const partsAtOnce = 3

/**
 * Yields the pages of a line, oldest first. Reads ahead, so the store reads while this thread decodes. The first part is short,
 * so that this thread begins early.
 */
export async function* walkPages(
  log: Pick<Log, 'read'>,
  id: SessionId,
  spans: Spans,
  types: readonly EventType[],
): AsyncGenerator<readonly ReadRecord[]> {
  const limit = limits.pageRecordsMax
  const readAfter = (after: Seq, upTo: Seq) => {
    const page = log.read(id, { after, upTo, limit, charsMax: limits.readCharsMax, types })
    page.catch(() => undefined) // awaited below, unless the caller stops before
    return page
  }
  const parts = splitSpans(spans, limit)
  const asked: ReturnType<typeof readAfter>[] = []
  for (const [index, { to }] of parts.entries()) {
    for (const { from, to: upTo } of parts.slice(index + asked.length, index + partsAtOnce))
      asked.push(readAfter(from - 1, upTo))
    let next = asked.shift() ?? null
    while (next) {
      const page: readonly ReadRecord[] = await next
      const last = page.at(-1)
      next = last && last.seq < to ? readAfter(last.seq, to) : null
      if (last) yield page
    }
  }
}

/** Splits spans into parts of at most `seqsMax` seqs, the first ones shorter. */
function splitSpans(spans: Spans, seqsMax: number): Spans {
  const parts: Spans[number][] = []
  let seqs = firstPartSeqs
  for (const { from, to } of spans) {
    for (let start = from; start <= to; ) {
      const end = Math.min(start + seqs - 1, to)
      parts.push({ from: start, to: end })
      start = end + 1
      seqs = Math.min(2 * seqs, seqsMax)
    }
  }
  return parts
}

/** Returns whether these records are certainly smaller than `charsMax`: then their size did not end the page. */
function isWithin(records: readonly ReadRecord[], charsMax: number): boolean {
  return isShorterThan(
    records.map((record) => ('lost' in record ? null : record.event)),
    charsMax,
  )
}
