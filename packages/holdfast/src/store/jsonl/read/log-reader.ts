import type { ReadRange, ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import type { OpenLog } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

/** A stretch of seqs, both ends included, and the session of the lineage whose file holds it; null when that is gone. */
type Stretch = { readonly row: SessionRow | null; readonly from: Seq; readonly upTo: Seq }

type Logs = { of(row: SessionRow): Promise<Pick<OpenLog, 'index' | 'read'>> }

/** Reads bounded pages through the lineage of a session. */
export function createLogReader(rows: ReadonlyMap<SessionId, SessionRow>, logs: Logs) {
  /** The stretches that hold seqs after `after` up to `upTo`, newest first: a fork's own, then its lineage's. */
  function lineage(session: SessionId, after: Seq, upTo: Seq): readonly Stretch[] {
    const stretches: Stretch[] = []
    let last = upTo
    let row = rows.get(session)
    if (row?.isShared === true) return []
    while (row !== undefined) {
      const from = Math.max(row.base, after) + 1
      const end = Math.min(last, row.head)
      if (from <= end) stretches.push({ row, from, upTo: end })
      last = Math.min(last, row.base)
      if (last <= after || row.parent === null) return stretches
      row = rows.get(row.parent)
      if (row === undefined) stretches.push({ row: null, from: after + 1, upTo: last })
    }
    return stretches
  }

  return {
    async read(
      session: SessionId,
      { after, upTo, limit, newestFirst, types }: ReadRange,
    ): Promise<readonly ReadRecord[]> {
      const isNewestFirst = newestFirst === true
      const wanted = types === undefined ? null : new Set(types)
      const stretches = lineage(session, after, upTo ?? Number.MAX_SAFE_INTEGER)
      const page: ReadRecord[] = []
      for (const { row, from, upTo: end } of isNewestFirst ? stretches : stretches.toReversed()) {
        if (page.length >= limit) break
        if (row === null) {
          page.push(...lostBetween(from, end, limit - page.length, isNewestFirst))
          continue
        }
        const log = await logs.of(row)
        const range = { from, upTo: end, limit: limit - page.length, newestFirst: isNewestFirst, types: wanted }
        page.push(...(await log.read(log.index.pick(range))))
      }
      return page
    },

    async readRefs(session: SessionId, calls: readonly Seq[]): Promise<readonly ReadRecord[]> {
      const found: ReadRecord[] = []
      for (const { row, upTo } of lineage(session, 0, Number.MAX_SAFE_INTEGER).toReversed()) {
        if (row === null) continue
        const log = await logs.of(row)
        found.push(...(await log.read(log.index.refsTo(calls, upTo))))
      }
      return found
    },
  }
}

/** Whose file is gone had records all the same. */
function lostBetween(from: Seq, upTo: Seq, limit: number, newestFirst: boolean): readonly ReadRecord[] {
  const count = Math.min(limit, upTo - from + 1)
  return Array.from({ length: count }, (_, index) => ({ seq: newestFirst ? upTo - index : from + index, lost: true }))
}
