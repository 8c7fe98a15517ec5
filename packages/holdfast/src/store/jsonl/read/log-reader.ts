import type { ReadRange, ReadRecord, SearchPage, SearchRequest } from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import type { Result } from '@holdfast/protocol/result'
import { type ScannedSession, scanSearch } from '../../search/scan-search.ts'
import type { TrustMark } from '../files/trust-file.ts'
import type { OpenLog } from '../log/open-logs.ts'
import type { SessionRow } from '../log/session-row.ts'

/** A range of seqs, both ends included, and the session whose file holds it; null if that file is gone. */
type Span = { readonly row: SessionRow | null; readonly from: Seq; readonly upTo: Seq }

type Logs = { get(row: SessionRow): Promise<Pick<OpenLog, 'index' | 'read' | 'crcAt'>> }

/** Reads bounded pages of a session and of the sessions it was forked from. */
export function createLogReader(rows: ReadonlyMap<SessionId, SessionRow>, logs: Logs) {
  /** Returns the spans that hold the seqs after `after` up to `upTo`: the session's own first, then its ancestors'. */
  function findSpans(session: SessionId, after: Seq, upTo: Seq): readonly Span[] {
    const spans: Span[] = []
    let last = upTo
    let row = rows.get(session)
    if (row?.isShared === true) return []
    while (row !== undefined) {
      const from = Math.max(row.base, after) + 1
      const end = Math.min(last, row.head)
      if (from <= end) spans.push({ row, from, upTo: end })
      last = Math.min(last, row.base)
      if (last <= after || row.parent === null) return spans
      row = rows.get(row.parent)
      if (row === undefined) spans.push({ row: null, from: after + 1, upTo: last })
    }
    return spans
  }

  async function read(session: SessionId, range: ReadRange): Promise<readonly ReadRecord[]> {
    const { after, upTo = Number.MAX_SAFE_INTEGER, limit, charsMax, newestFirst = false } = range
    const types = range.types === undefined ? null : new Set<string>(range.types)
    const spans = findSpans(session, after, upTo)
    const page: ReadRecord[] = []
    let bytesLeft = charsMax ?? Number.POSITIVE_INFINITY // a line has at least as many bytes as its record has characters
    for (const { row, from, upTo: end } of newestFirst ? spans : spans.toReversed()) {
      const left = limit - page.length
      if (left <= 0 || bytesLeft <= 0) break
      if (row === null) {
        page.push(...listLost(from, end, left, newestFirst))
        continue
      }
      const log = await logs.get(row)
      const selected = log.index.select({ from, upTo: end, limit: left, newestFirst, types })
      const seqs: Seq[] = []
      for (const seq of selected) {
        if (bytesLeft <= 0) break
        seqs.push(seq)
        bytesLeft -= log.index.positionOf(seq)?.bytes ?? 0
      }
      page.push(...(await log.read(seqs)))
    }
    return page
  }

  async function readRefs(session: SessionId, calls: readonly Seq[]): Promise<readonly ReadRecord[]> {
    const found: ReadRecord[] = []
    for (const { row, upTo } of findSpans(session, 0, Number.MAX_SAFE_INTEGER).toReversed()) {
      if (row === null) continue
      const log = await logs.get(row)
      found.push(...(await log.read(log.index.refsTo(calls, upTo))))
    }
    return found
  }

  /** Reads the records of a session alone, also of a purged one; `types` null reads every type. */
  async function readOwn(session: SessionId, types: ReadonlySet<string> | null, after: Seq, limit: number) {
    const row = rows.get(session)
    if (row === undefined) return []
    const log = await logs.get(row)
    return log.read(log.index.select({ from: after + 1, upTo: row.head, limit, newestFirst: false, types }))
  }

  /** Returns whether a log has exactly this record. */
  async function hasRecord({ session, seq, crc }: TrustMark): Promise<boolean> {
    const row = rows.get(session)
    return row !== undefined && (await (await logs.get(row)).crcAt(seq)) === crc
  }

  /** Finds messages by reading all logs: plain files have no index. */
  function search(request: SearchRequest): Promise<Result<SearchPage>> {
    const sessions = [...rows.values()].map(toScannedSession)
    return scanSearch({ sessions, ownRecords: (id, after, limit) => readOwn(id, null, after, limit) }, request)
  }

  return { read, readRefs, readOwn, hasRecord, search }
}

function listLost(from: Seq, upTo: Seq, limit: number, newestFirst: boolean): readonly ReadRecord[] {
  const count = Math.min(limit, upTo - from + 1)
  return Array.from({ length: count }, (_, index) => ({ seq: newestFirst ? upTo - index : from + index, lost: true }))
}

function toScannedSession({ id, order, parent, base, head, entry, isShared, trashedAt }: SessionRow): ScannedSession {
  const { title, workspace } = entry.meta
  const isFound = !isShared && trashedAt === null && entry.spoken
  return { id, order, parent, base, head, shown: isFound ? { title, workspace } : null }
}
