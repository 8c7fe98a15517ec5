import type { Log, ReadRange, ReadRecord } from '@holdfast/core/ports'
import type { LostRecord, SessionId } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { decodeRecord, type StoredRecord } from '../../stored-record.ts'
import type { Database, SqlRow } from '../connect/connect.ts'
import { checkRecord, recordColumns } from './columns.ts'

/** With a filter by type, about every second record matches. */
const rowsPerMatch = 2
const rowsAtOnce = { min: 16, max: 512 }
/** The rows of one answer end at the body that reaches this size. */
const bytesAtOnce = 4 * 1024 * 1024

/**
 * The seqs that a session and its lineage store: each session from `low` to `high`. A fork ends the range of its parent at
 * its base, and of all above. $1 is the session, $2 the seq before the first one, $3 the last one.
 */
export const lineage = `
  with recursive lineage (sid, id, parent, base, rest, low, high) as (
    select sid, id, parent, base, least(base, $3), greatest(base, $2) + 1, least(head, $3)
      from @session where id = $1 and purged_at is null
    union all
    select above.sid, above.id, above.parent, above.base, least(rest, above.base), greatest(above.base, $2) + 1,
      least(above.head, rest)
      from lineage join @session above on above.sid = lineage.parent where rest > $2
  )`

/**
 * Reads the first rows of a range in either direction, and its last seq even if there is no row. All in one statement: a
 * session that is purged meanwhile must not look damaged.
 */
const readStatement = (direction: 'asc' | 'desc') => `${lineage},
  row_page as (
    select lineage.id as holder, own.* from lineage cross join lateral (
      select ${recordColumns}, octet_length(body) as bytes from @record where sid = lineage.sid and seq between low and high
      order by seq ${direction} limit $4) own
    order by seq ${direction} limit $4
  ),
  bounded as (select row_page.*, sum(bytes) over (order by seq ${direction}) - bytes as bytes_before from row_page)
  select top.high, bounded.* from (select max(high) as high from lineage) top
    left join bounded on bytes_before < $5 where top.high is not null order by seq ${direction}`
const [oldestFirst, newestFirst] = [readStatement('asc'), readStatement('desc')]

const refsStatement = `${lineage}
  select lineage.id as holder, ${recordColumns
    .split(', ')
    .map((column) => `record.${column}`)
    .join(', ')}
  from lineage join @record record using (sid) where ref = any($4) and seq between low and high order by seq`

const top = Number.MAX_SAFE_INTEGER

/** Reads records and verifies their checksums. */
export function createLogReader({ read }: Database): Pick<Log, 'read' | 'readRefs' | 'findCommand' | 'commandHash'> {
  return {
    read: (session, range) => readPage(read, session, range),

    async readRefs(session, calls) {
      const rows = await read(refsStatement, [session, 0, top, calls])
      return rows.map((row) => decodeRecord(checkRecord(String(row['holder']), row)))
    },

    async findCommand(session, commandId) {
      const [row] = await read(
        `select ${recordColumns} from @record
        where sid = (select sid from @session where id = $1 and purged_at is null) and command_id = $2`,
        [session, commandId],
      )
      const record = row === undefined ? null : decodeRecord(checkRecord(session, row))
      if (record === null || !('lost' in record)) return record
      const message = `Command ${commandId} was admitted at seq ${record.seq}, but its record is damaged.`
      throw new HoldfastError(fault('log_damaged', message, { session, seq: record.seq }))
    },

    async commandHash(session, commandId) {
      const [row] = await read(
        `select hash from @session join @record record using (sid) join @command_hash using (sid, seq)
        where id = $1 and command_id = $2`,
        [session, commandId],
      )
      return row === undefined ? null : String(row['hash'])
    },
  }
}

/** Returns one answer for each seq: a missing or damaged row is a lost record. */
async function readPage(read: Database['read'], session: SessionId, range: ReadRange): Promise<readonly ReadRecord[]> {
  const { limit, charsMax = Number.POSITIVE_INFINITY, newestFirst: isDown = false, types } = range
  const wanted = types === undefined ? null : new Set<string>(types)
  const page = createPage(isDown, limit, charsMax, wanted)
  let [after, upTo] = [range.after, range.upTo ?? top]
  while (!page.isFull()) {
    const count = countRows(limit - page.records.length, wanted !== null)
    const bytesMax = Math.min(bytesAtOnce, charsMax)
    const rows = await read(isDown ? newestFirst : oldestFirst, [session, after, upTo, count, bytesMax])
    const high = rows[0]?.['high']
    if (high === undefined || Number(high) <= after) return page.records
    const found = rows.filter((row) => row['seq'] !== null)
    const first = isDown ? Number(high) : after + 1
    for (const [index, row] of found.entries()) {
      const expected = index === 0 ? first : Number(found[index - 1]?.['seq']) + (isDown ? -1 : 1)
      page.loseUntil(expected, Number(row['seq']))
      page.add(row)
      if (page.isFull()) return page.records
    }
    const last = Number(found.at(-1)?.['seq'] ?? first + (isDown ? 1 : -1))
    const isWhole = found.length < count && sumBytes(found) < bytesMax
    if (isWhole) {
      page.loseUntil(last + (isDown ? -1 : 1), isDown ? after : Number(high) + 1)
      return page.records
    }
    if (isDown) upTo = last - 1
    else after = last
  }
  return page.records
}

const sumBytes = (rows: readonly SqlRow[]): number => rows.reduce((sum, row) => sum + Number(row['bytes']), 0)

/** Collects a page: only wanted types count, and it ends at the record that reaches the size. */
function createPage(isDown: boolean, limit: number, charsMax: number, wanted: ReadonlySet<string> | null) {
  const records: ReadRecord[] = []
  const step = isDown ? -1 : 1
  let chars = 0
  const isFull = () => records.length >= limit || chars >= charsMax
  return {
    records,
    isFull,
    loseUntil(from: number, end: number): void {
      for (let seq = from; seq !== end && !isFull(); seq += step) records.push({ seq, lost: true })
    },
    add(row: SqlRow): void {
      if (isFull()) return
      const record: StoredRecord | LostRecord = checkRecord(String(row['holder']), row)
      // A damaged record may have had any of the types.
      if (!('lost' in record) && wanted !== null && !wanted.has(record.type)) return
      records.push(decodeRecord(record))
      if (!('lost' in record)) chars += record.body.length
    },
  }
}

function countRows(missing: number, isFiltered: boolean): number {
  if (!isFiltered) return Math.min(missing, rowsAtOnce.max)
  return Math.min(Math.max(missing * rowsPerMatch, rowsAtOnce.min), rowsAtOnce.max)
}
