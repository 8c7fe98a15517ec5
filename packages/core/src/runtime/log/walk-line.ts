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

/** Yields the pages of a line, oldest first. Reads one page ahead, so the store reads while this thread decodes. */
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
  const [first] = parts
  let ahead = first ? readAfter(first.from - 1, first.to) : null
  for (const [index, { to }] of parts.entries()) {
    let next: ReturnType<typeof readAfter> | null = ahead
    const following = parts[index + 1]
    ahead = following ? readAfter(following.from - 1, following.to) : null
    while (next) {
      const page: readonly ReadRecord[] = await next
      const last = page.at(-1)
      next = last && last.seq < to ? readAfter(last.seq, to) : null
      if (last) yield page
    }
  }
}

/** Splits spans into parts of at most so many seqs. */
const splitSpans = (spans: Spans, seqs: number): Spans =>
  spans.flatMap(({ from, to }) =>
    Array.from({ length: Math.ceil((to - from + 1) / seqs) }, (_, index) => {
      const start = from + index * seqs
      return { from: start, to: Math.min(start + seqs - 1, to) }
    }),
  )

/** Returns whether these records are certainly smaller than `charsMax`: then their size did not end the page. */
function isWithin(records: readonly ReadRecord[], charsMax: number): boolean {
  return isShorterThan(
    records.map((record) => ('lost' in record ? null : record.event)),
    charsMax,
  )
}
