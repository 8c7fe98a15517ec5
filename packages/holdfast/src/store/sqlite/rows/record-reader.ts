import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import type { LostRecord } from '@holdfast/protocol'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import { checkRecord, decompressBody, recordColumns } from './columns.ts'
import { beginChecksum, type CompressedText, checksumOfTexts, headColumn, type RecordTexts } from './record-texts.ts'
import { decompressedBytes } from './zstd-frames.ts'

/** A range of seqs, both ends included, and the session of the lineage that stores them. */
type SeqRange = { readonly sid: number; readonly session: string; readonly from: number; readonly upTo: number }

/** With a filter by type, about every second record matches. */
const rowsPerMatch = 2
const rowsAtOnce = { min: 16, max: 512 }
/** A longer body is read by a query of its own, so that the rows read at once are bounded. */
const bodyBytesAtOnce = 64 * 1024
/** The thread that asked decompresses a body of up to this length. A longer one would hold up its other work. */
const decompressedLaterBytes = 16 * 1024

/** Reads records and verifies their checksums. The caller begins the transaction. */
export function createRecordReader(database: DatabaseSync) {
  const byId = database.prepare('select sid, id, base, head, parent from session where id = ? and purged_at is null')
  const bySid = database.prepare('select sid, id, base, head, parent from session where sid = ?')
  const inRange = `
    select seq, type, crc, ${headColumn}, iif(octet_length(body) > ${bodyBytesAtOnce}, null, body)
    from record where sid = ? and seq between ? and ? order by seq`
  const oldestFirst = asLists(database.prepare(`${inRange} limit ?`))
  const newestFirst = asLists(database.prepare(`${inRange} desc limit ?`))
  const oneBody = database.prepare('select body from record where sid = ? and seq = ?')
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
  ): RecordTexts {
    const wanted = types === undefined ? null : new Set<unknown>(types)
    const ranges = lineage(session, after, last ?? Number.MAX_SAFE_INTEGER)
    const step = isDown ? -1 : 1
    const page: (string | CompressedText | null)[] = []
    const textsMax = 2 * limit
    let chars = 0
    for (const { sid, session: holder, from, upTo } of isDown ? ranges : ranges.toReversed()) {
      const begun = beginChecksum(holder)
      let next = isDown ? upTo : from
      const loseUntil = (seq: number): void => {
        for (; next !== seq && page.length < textsMax; next += step) page.push(String(next), null)
      }
      while (page.length < textsMax && next >= from && next <= upTo) {
        const count = countRows(limit - page.length / 2, wanted !== null)
        const rows = isDown ? newestFirst(sid, from, next, count) : oldestFirst(sid, next, upTo, count)
        for (const [seq, type, crc, head, short] of rows) {
          loseUntil(Number(seq))
          if (page.length >= textsMax) return page
          const isWanted = wanted === null || wanted.has(type)
          const stored = short ?? oneBody.get(sid, next)?.['body']
          next += step
          if (isWanted && isDecompressedLater(stored)) {
            page.push(String(head), { bytes: stored, begun, crc: Number(crc) })
            chars += decompressedBytes(stored) ?? 0
          } else {
            const body = decompressBody(stored)
            if (checksumOfTexts(begun, String(head), body) !== crc) {
              page.push(String(seq), null) // it may have had any of the types
            } else if (isWanted) {
              page.push(String(head), body)
              chars += body.length
            }
          }
          if (chars >= charsMax) return page
        }
        if (rows.length < count) loseUntil(isDown ? from - 1 : upTo + 1)
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

const isDecompressedLater = (stored: unknown): stored is Uint8Array =>
  stored instanceof Uint8Array && (decompressedBytes(stored) ?? Number.POSITIVE_INFINITY) <= decompressedLaterBytes

function countRows(missing: number, isFiltered: boolean): number {
  if (!isFiltered) return Math.min(missing, rowsAtOnce.max)
  return Math.min(Math.max(missing * rowsPerMatch, rowsAtOnce.min), rowsAtOnce.max)
}

/** Reads rows as lists, many at once: an object for each, or a step for each, takes twice as long. */
function asLists(statement: StatementSync): (...parameters: readonly number[]) => readonly (readonly unknown[])[] {
  statement.setReturnArrays(true)
  // Node's types describe rows as objects only.
  return (...parameters) => statement.all(...parameters) as unknown as readonly (readonly unknown[])[]
}
