import { type clipLine, type EventType, limits, type SessionId } from '@holdfast/protocol'
import type { Log, ReadRecord } from '../../ports/log.ts'

/** Stretches of seqs, as `clipLine` gives them. */
export type Spans = ReturnType<typeof clipLine>

export type WalkOptions = {
  readonly types: readonly EventType[]
  readonly newestFirst?: boolean | undefined
  /** How many records to read at a time: few for whoever looks for one. */
  readonly pageSize?: number | undefined
}

/** The records of a line one after the other, read by bounded pages for as long as someone wants more. */
export async function* walkLine(
  log: Pick<Log, 'read'>,
  id: SessionId,
  spans: Spans,
  { types, newestFirst = false, pageSize: limit = limits.pageRecordsMax }: WalkOptions,
): AsyncGenerator<ReadRecord> {
  for (const span of newestFirst ? spans.toReversed() : spans) {
    let { from, to } = span
    while (from <= to) {
      const page = await log.read(id, { after: from - 1, upTo: to, limit, newestFirst, types })
      yield* page
      const last = page.at(-1)
      if (!last || page.length < limit) break
      if (newestFirst) to = last.seq - 1
      else from = last.seq + 1
    }
  }
}
