import type { DatabaseSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import type { LostRecord } from '@holdfast/protocol'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import { checkRecord, decompressBody, recordColumns } from './columns.ts'
import { beginChecksum, type PackedLines, type PackedPage } from './packed-page.ts'
import {
  createLineReader,
  isIntact,
  type LineHead,
  lineBreak,
  nonMessageTypes,
  notRead,
  type RowLines,
  readHead,
  type Seqs,
} from './record-lines.ts'
import { decompressedBytes } from './zstd-frames.ts'

/** A range of seqs, and the session of the lineage that stores them. */
type SeqRange = Seqs & { readonly sid: number; readonly session: string }

/** The types that are asked for; null for all. */
type Wanted = ReadonlySet<string> | null

/** With a filter by type, about every second record matches. */
const rowsPerMatch = 2
const rowsAtOnce = { min: 16, max: 512 }
/** The thread that asked decompresses a body of up to this length. A longer one would hold up its other work. */
const decompressedLaterBytes = 16 * 1024

/** Reads records and verifies their checksums. The caller begins the transaction. */
export function createRecordReader(database: DatabaseSync) {
  const byId = database.prepare('select sid, id, base, head, parent from session where id = ? and purged_at is null')
  const bySid = database.prepare('select sid, id, base, head, parent from session where sid = ?')
  const readLines = createLineReader(database)
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
    { after, upTo, limit, charsMax = Number.POSITIVE_INFINITY, newestFirst: isDown = false, types }: ReadRange,
  ): PackedPage {
    const wanted = types === undefined ? null : new Set<string>(types)
    const ranges = lineage(session, after, upTo ?? Number.MAX_SAFE_INTEGER)
    const page = createPage(limit, charsMax)
    for (const range of isDown ? ranges : ranges.toReversed()) {
      if (page.isFull()) break
      addRange(page, range, wanted, isDown)
    }
    return page.parts()
  }

  /** Adds the records of a range to a page, until the page is full. */
  function addRange(page: Page, { sid, session, from, upTo }: SeqRange, wanted: Wanted, isDown: boolean): void {
    const begun = beginChecksum(session)
    const skipsNonMessages = wanted !== null && nonMessageTypes.isDisjointFrom(wanted)
    const step = isDown ? -1 : 1
    let next = isDown ? upTo : from
    const loseUntil = (seq: number) => {
      for (; next !== seq && !page.isFull(); next += step) page.lose(next)
    }
    while (!page.isFull() && next >= from && next <= upTo) {
      const count = countRows(page.missing(), wanted !== null)
      const seqs = isDown ? { from, upTo: next } : { from: next, upTo }
      const rows = readLines(sid, seqs, { count, isDown, skipsNonMessages })
      const nextBody = createBodyReader(sid, rows)
      let start = 0
      for (const end of rows.ends) {
        const head = readHead(rows.bytes, start)
        const line = { rows, start, end, begun, head }
        start = end + 1
        const { seq, type } = head
        if (rows.isComplete) next = seq
        else loseUntil(seq)
        if (page.isFull()) return
        next += step
        const body = rows.bytes[end - 1] === lineBreak ? nextBody(seq) : null
        if (skipsNonMessages && nonMessageTypes.has(type)) continue
        addLine(page, line, body, wanted === null || wanted.has(type))
      }
      if (rows.isComplete) next = isDown ? rows.coveredSeqs.from - 1 : rows.coveredSeqs.upTo + 1
      else if (rows.ends.length < count) loseUntil(isDown ? from - 1 : upTo + 1)
    }
  }

  /** Returns a function that gives each line without a body its body, in the order of the lines. */
  function createBodyReader(sid: number, { compressed, missingBodies }: RowLines): (seq: number) => MissingBody {
    let [index, start] = [0, 0]
    return (seq) => {
      const length = missingBodies[index++] ?? notRead
      if (length === notRead) return { stored: oneBody.get(sid, seq)?.['body'], start: null }
      const body = { stored: compressed.subarray(start, start + length), start }
      start += length
      return body
    }
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

/** Where a line is, and what it says of its record. */
type Line = {
  readonly rows: RowLines
  readonly start: number
  readonly end: number
  readonly begun: number
  readonly head: LineHead
}

/** A body that is not part of its line, and where it is among the compressed ones; null if it was read by itself. */
type MissingBody = { readonly stored: unknown; readonly start: number | null }

/** Adds a record that is wanted. One that does not match its checksum is lost: it may have had any of the types. */
function addLine(page: Page, line: Line, body: MissingBody | null, isWanted: boolean): void {
  const { rows, start, end, begun, head } = line
  if (body === null) {
    if (!isIntact(rows.bytes, start, end, begun, head)) page.lose(head.seq)
    else if (isWanted) page.add(line)
    return
  }
  const { stored, start: compressedStart } = body
  if (isWanted && compressedStart !== null && stored instanceof Uint8Array) {
    const bytes = decompressedBytes(stored)
    if (bytes !== null && bytes <= decompressedLaterBytes) {
      page.add(line, { start: compressedStart, length: stored.length, bytes })
      return
    }
  }
  const whole = Buffer.from(`${rows.bytes.toString('utf8', start, end)}${decompressBody(stored)}`)
  if (!isIntact(whole, 0, whole.length, begun, head)) page.lose(head.seq)
  else if (isWanted) page.addLong(whole.toString())
}

function countRows(missing: number, isFiltered: boolean): number {
  if (!isFiltered) return Math.min(missing, rowsAtOnce.max)
  return Math.min(Math.max(missing * rowsPerMatch, rowsAtOnce.min), rowsAtOnce.max)
}

/** A compressed body: where it is, how long it is, and how long when it is decompressed. */
type CompressedBody = { readonly start: number; readonly length: number; readonly bytes: number }

/** Lines that follow each other, and the compressed bodies of some of them. */
type Run = {
  readonly rows: RowLines
  readonly begun: number
  readonly start: number
  end: number
  readonly compressedStart: number
  readonly compressedLengths: number[]
}

type Page = ReturnType<typeof createPage>

/** Collects a page. Lines that follow each other stay together. */
function createPage(limit: number, charsMax: number) {
  const page: (PackedLines | string | number)[] = []
  let run: Run | null = null
  let [records, chars] = [0, 0]
  const endRun = () => {
    if (run) page.push(packRun(run))
    run = null
  }
  const count = (length: number) => {
    records += 1
    chars += length
  }
  return {
    isFull: () => records >= limit || chars >= charsMax,
    /** How many records the page may still have. */
    missing: () => limit - records,
    add({ rows, start, end, begun }: Line, body: CompressedBody | null = null): void {
      if (run === null || run.rows !== rows || run.end + 1 !== start) {
        endRun()
        run = { rows, begun, start, end, compressedStart: body?.start ?? 0, compressedLengths: [] }
      } else if (body && run.compressedLengths.length === 0) run = { ...run, compressedStart: body.start }
      run.end = end
      if (body) run.compressedLengths.push(body.length)
      count(body === null ? end - start : body.bytes)
    },
    /** Adds a line with a long body. */
    addLong(line: string): void {
      endRun()
      page.push(line)
      count(line.length)
    },
    lose(seq: number): void {
      endRun()
      page.push(seq)
      count(0)
    },
    parts(): PackedPage {
      endRun()
      return page
    },
  }
}

function packRun({ rows, begun, start, end, compressedStart, compressedLengths }: Run): PackedLines {
  const compressedEnd = compressedLengths.reduce((sum, length) => sum + length, compressedStart)
  return {
    lines: rows.bytes.subarray(start, end),
    compressed: rows.compressed.subarray(compressedStart, compressedEnd),
    compressedLengths,
    begun,
  }
}
