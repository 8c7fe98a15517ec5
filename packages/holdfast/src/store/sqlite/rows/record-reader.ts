import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import type { LostRecord } from '@holdfast/protocol'
import { checkColumns, checkRecord, recordColumns } from './columns.ts'
import type { StoredPage, StoredRecord } from './requests.ts'

/** A range of seqs, both ends included, and the session of the lineage that stores them. */
type SeqRange = { readonly sid: number; readonly session: string; readonly from: number; readonly upTo: number }

/** With a filter by type, about every second record matches. */
const rowsPerMatch = 2
const rowsAtOnce = { min: 16, max: 512 }

/** Reads records and verifies their checksums. The caller begins the transaction. */
export function createRecordReader(database: DatabaseSync) {
  const byId = database.prepare('select sid, id, base, head, parent from session where id = ? and purged_at is null')
  const bySid = database.prepare('select sid, id, base, head, parent from session where sid = ?')
  const inRange = `select ${recordColumns} from record where sid = ? and seq between ? and ? order by seq`
  const oldestFirst = asLists(database.prepare(`${inRange} limit ?`))
  const newestFirst = asLists(database.prepare(`${inRange} desc limit ?`))
  // Names the index: SQLite would otherwise walk the whole session by seq, to get the order.
  const byRef = database.prepare(`
    select ${recordColumns} from record indexed by record_ref
    where sid = ? and ref in (select value from json_each(?)) and seq <= ? order by seq`)
  const byCommand = database.prepare(`select ${recordColumns} from record where sid = ? and command_id = ?`)

  /** Returns the ranges that store the seqs after `after` up to `upTo`, newest first: a fork's own, then its parents'. */
  function lineage(session: string, after: number, upTo: number): readonly SeqRange[] {
    const ranges: SeqRange[] = []
    let last = upTo
    for (let row = byId.get(session); row !== undefined; row = bySid.get(Number(row['parent']))) {
      const base = Number(row['base'])
      const end = Math.min(last, Number(row['head']))
      const from = Math.max(base, after) + 1
      if (from <= end) ranges.push({ sid: Number(row['sid']), session: String(row['id']), from, upTo: end })
      last = Math.min(last, base)
      if (last <= after || row['parent'] === null) break
    }
    return ranges
  }

  /** Returns one answer for each seq: a missing or damaged row is a lost record. */
  function read(
    session: string,
    { after, upTo: last, limit, charsMax = Number.POSITIVE_INFINITY, newestFirst: isDown = false, types }: ReadRange,
  ): StoredPage {
    const wanted = types === undefined ? null : new Set(types)
    const ranges = lineage(session, after, last ?? Number.MAX_SAFE_INTEGER)
    const step = isDown ? -1 : 1
    const page: (StoredRecord | LostRecord)[] = []
    let chars = 0
    for (const { sid, session: holder, from, upTo } of isDown ? ranges : ranges.toReversed()) {
      let next = isDown ? upTo : from
      const loseUntil = (seq: number): void => {
        for (; next !== seq && page.length < limit; next += step) page.push({ seq: next, lost: true })
      }
      while (page.length < limit && next >= from && next <= upTo) {
        const count = countRows(limit - page.length, wanted !== null)
        let found = 0
        for (const row of isDown ? newestFirst(sid, from, next, count) : oldestFirst(sid, next, upTo, count)) {
          found += 1
          loseUntil(Number(row[0]))
          if (page.length >= limit) return page
          const record = checkColumns(holder, row)
          // A lost record may have had any of the types.
          const isWanted = 'lost' in record || wanted === null || wanted.has(record.type)
          if (isWanted) page.push(record)
          next += step
          chars += isWanted && !('lost' in record) ? record.body.length : 0
          if (chars >= charsMax) return page
        }
        if (found < count) loseUntil(isDown ? from - 1 : upTo + 1)
      }
    }
    return page
  }

  return {
    read,

    readRefs(session: string, calls: readonly number[]): StoredPage {
      return lineage(session, 0, Number.MAX_SAFE_INTEGER)
        .toReversed()
        .flatMap((range) =>
          byRef.all(range.sid, JSON.stringify(calls), range.upTo).map((row) => checkRecord(range.session, row)),
        )
    },

    findCommand(session: string, commandId: string): StoredRecord | LostRecord | null {
      const sid = byId.get(session)?.['sid']
      const row = sid === undefined ? undefined : byCommand.get(Number(sid), commandId)
      return row === undefined ? null : checkRecord(session, row)
    },
  }
}

function countRows(missing: number, isFiltered: boolean): number {
  if (!isFiltered) return Math.min(missing, rowsAtOnce.max)
  return Math.min(Math.max(missing * rowsPerMatch, rowsAtOnce.min), rowsAtOnce.max)
}

/** Reads rows as lists, one at a time: an object for each takes twice as long, and a page may end at any row. */
function asLists(statement: StatementSync): (...parameters: readonly number[]) => Iterable<readonly unknown[]> {
  statement.setReturnArrays(true)
  // Node's types describe rows as objects only.
  return (...parameters) => statement.iterate(...parameters) as unknown as Iterable<readonly unknown[]>
}
