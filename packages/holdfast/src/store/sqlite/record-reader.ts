import type { DatabaseSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import type { LostRecord } from '@holdfast/protocol'
import { checksumOf } from './checksum.ts'
import { bodyText } from './packed-body.ts'
import type { StoredPage, StoredRecord } from './request.ts'

/** A stretch of seqs, both ends included, and the session of the lineage whose rows hold it. */
type Stretch = { readonly sid: number; readonly session: string; readonly from: number; readonly upTo: number }
type Row = Record<string, unknown>

const columns = 'seq, at, type, v, client, command_id, ref, crc, body'

/** Reads records, each held against its checksum. Works inside a read transaction someone else begins. */
export function createRecordReader(database: DatabaseSync) {
  const byId = database.prepare('select sid, id, base, head, parent from session where id = ? and purged_at is null')
  const bySid = database.prepare('select sid, id, base, head, parent from session where sid = ?')
  const range = `select ${columns} from record where sid = ? and seq between ? and ? order by seq`
  const oldestFirst = database.prepare(range)
  const newestFirst = database.prepare(`${range} desc`)
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
      for (const record of scan(stretch, isNewestFirst === true)) {
        if (page.length >= limit) return page
        // What cannot be read may have been of any type.
        if ('lost' in record || wanted === null || wanted.has(record.type)) page.push(record)
      }
    }
    return page
  }

  /** One answer for every seq of the stretch: a row that is gone is lost, as one that is damaged. */
  function* scan({ sid, session, from, upTo }: Stretch, isNewestFirst: boolean): Iterable<StoredRecord | LostRecord> {
    const step = isNewestFirst ? -1 : 1
    let next = isNewestFirst ? upTo : from
    for (const row of (isNewestFirst ? newestFirst : oldestFirst).iterate(sid, from, upTo)) {
      for (; next !== row['seq']; next += step) yield { seq: next, lost: true }
      yield checked(session, row)
      next += step
    }
    for (; next >= from && next <= upTo; next += step) yield { seq: next, lost: true }
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

export function checked(session: string, row: Row): StoredRecord | LostRecord {
  const record = storedOf(row)
  return checksumOf(session, record) === row['crc'] ? record : { seq: record.seq, lost: true }
}

// The tables are strict, so each column has its type or is null.
function storedOf(row: Row): StoredRecord {
  return {
    seq: Number(row['seq']),
    at: String(row['at']),
    type: String(row['type']),
    v: Number(row['v']),
    by: textOrNull(row['client']),
    commandId: textOrNull(row['command_id']),
    ref: row['ref'] === null ? null : Number(row['ref']),
    body: bodyText(row['body']),
  }
}

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
