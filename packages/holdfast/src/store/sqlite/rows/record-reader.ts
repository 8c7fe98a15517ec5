import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import type { LostRecord } from '@holdfast/protocol'
import { checksumOf } from './checksum.ts'
import { bodyText } from './compressed-body.ts'
import type { StoredPage, StoredRecord } from './messages.ts'

/** A stretch of seqs, both ends included, and the session of the lineage whose rows hold it. */
type Stretch = { readonly sid: number; readonly session: string; readonly from: number; readonly upTo: number }
type Row = Record<string, unknown>

const columns = 'seq, at, type, v, client, command_id, ref, crc, body'
/** Where only some types are asked for, about every second record is of one. */
const rowsForEachWanted = 2
const rowsAtOnce = { min: 16, max: 512 }

/** Reads records, each held against its checksum. Works inside a read transaction someone else begins. */
export function createRecordReader(database: DatabaseSync) {
  const byId = database.prepare('select sid, id, base, head, parent from session where id = ? and purged_at is null')
  const bySid = database.prepare('select sid, id, base, head, parent from session where sid = ?')
  const range = `select ${columns} from record where sid = ? and seq between ? and ? order by seq`
  const oldestFirst = inLists(database.prepare(`${range} limit ?`))
  const newestFirst = inLists(database.prepare(`${range} desc limit ?`))
  // Told which index: by itself it takes the one by seq, for the order, and walks through the whole session.
  const byRef = database.prepare(`
    select ${columns} from record indexed by record_ref
    where sid = ? and ref in (select value from json_each(?)) and seq <= ? order by seq`)
  const byCommand = database.prepare(`select ${columns} from record where sid = ? and command_id = ?`)

  /** The stretches that hold seqs after `after` up to `upTo`, newest first: a fork's own, then its lineage's. */
  function lineage(session: string, after: number, upTo: number): readonly Stretch[] {
    const stretches: Stretch[] = []
    let last = upTo
    for (let row = byId.get(session); row !== undefined; row = bySid.get(Number(row['parent']))) {
      const base = Number(row['base'])
      const end = Math.min(last, Number(row['head']))
      const from = Math.max(base, after) + 1
      if (from <= end) stretches.push({ sid: Number(row['sid']), session: String(row['id']), from, upTo: end })
      last = Math.min(last, base)
      if (last <= after || row['parent'] === null) break
    }
    return stretches
  }

  function read(session: string, { after, upTo, limit, newestFirst: isNewestFirst, types }: ReadRange): StoredPage {
    const wanted = types === undefined ? null : new Set(types)
    const stretches = lineage(session, after, upTo ?? Number.MAX_SAFE_INTEGER)
    const page: (StoredRecord | LostRecord)[] = []
    for (const stretch of isNewestFirst === true ? stretches : stretches.toReversed()) {
      scan(stretch, isNewestFirst === true, page, limit, wanted)
    }
    return page
  }

  /**
   * Fills the page from one stretch, with an answer for every seq: a row that is gone is lost, as one that is damaged.
   * Rows come in lists and many at once: an object and a step of a cursor for each takes twice as long.
   */
  function scan(
    { sid, session, from, upTo }: Stretch,
    isNewestFirst: boolean,
    page: (StoredRecord | LostRecord)[],
    limit: number,
    wanted: ReadonlySet<string> | null,
  ): void {
    const step = isNewestFirst ? -1 : 1
    let next = isNewestFirst ? upTo : from
    const loseUntil = (seq: number): void => {
      for (; next !== seq && page.length < limit; next += step) page.push({ seq: next, lost: true })
    }
    while (page.length < limit && next >= from && next <= upTo) {
      const count = countOfRows(limit - page.length, wanted !== null)
      const rows = isNewestFirst ? newestFirst(sid, from, next, count) : oldestFirst(sid, next, upTo, count)
      for (const row of rows) {
        loseUntil(Number(row[0]))
        if (page.length >= limit) return
        const record = checkedList(session, row)
        // What cannot be read may have been of any type.
        if ('lost' in record || wanted === null || wanted.has(record.type)) page.push(record)
        next += step
      }
      if (rows.length < count) loseUntil(isNewestFirst ? from - 1 : upTo + 1)
    }
  }

  return {
    read,

    readRefs(session: string, calls: readonly number[]): StoredPage {
      return lineage(session, 0, Number.MAX_SAFE_INTEGER)
        .toReversed()
        .flatMap((stretch) =>
          byRef.all(stretch.sid, JSON.stringify(calls), stretch.upTo).map((row) => checked(stretch.session, row)),
        )
    },

    findCommand(session: string, commandId: string): StoredRecord | LostRecord | null {
      const sid = byId.get(session)?.['sid']
      const row = sid === undefined ? undefined : byCommand.get(Number(sid), commandId)
      return row === undefined ? null : checked(session, row)
    },
  }
}

function countOfRows(stillWanted: number, isFiltered: boolean): number {
  if (!isFiltered) return Math.min(stillWanted, rowsAtOnce.max)
  return Math.min(Math.max(stillWanted * rowsForEachWanted, rowsAtOnce.min), rowsAtOnce.max)
}

type RowList = readonly unknown[]

function inLists(statement: StatementSync): (...parameters: readonly number[]) => readonly RowList[] {
  statement.setReturnArrays(true)
  // The types of Node know rows as objects only.
  return (...parameters) => statement.all(...parameters) as unknown as readonly RowList[]
}

export function checked(session: string, row: Row): StoredRecord | LostRecord {
  const { seq, at, type, v, client, command_id, ref, crc, body } = row
  return checkedList(session, [seq, at, type, v, client, command_id, ref, crc, body])
}

// The tables are strict, so each column has its type or is null.
function checkedList(session: string, row: RowList): StoredRecord | LostRecord {
  const [seq, at, type, v, client, commandId, ref, crc, body] = row
  const record: StoredRecord = {
    seq: Number(seq),
    at: String(at),
    type: String(type),
    v: Number(v),
    by: textOrNull(client),
    commandId: textOrNull(commandId),
    ref: ref === null ? null : Number(ref),
    body: bodyText(body),
  }
  return checksumOf(session, record) === crc ? record : { seq: record.seq, lost: true }
}

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
