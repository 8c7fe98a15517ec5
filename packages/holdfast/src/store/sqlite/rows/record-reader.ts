import type { DatabaseSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import type { LostRecord } from '@holdfast/protocol'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import { checkRecord, decompressBody, recordColumns } from './columns.ts'
import { createLineReader, nonMessageTypes, type RowLines, type Seqs, seqOf, typeOf } from './record-lines.ts'
import { beginChecksum, bodyBytesInline, type CompressedText, isIntact, type RecordTexts } from './record-texts.ts'
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
  const shortBodies = database.prepare(`
    select seq, iif(octet_length(body) > ${bodyBytesInline}, null, body) as body
    from record where sid = ? and seq in (select value from json_each(?))`)
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

  /** Returns a function that reads the body of a line that has none, compressed or long. Short ones are read together. */
  function readBodies(sid: number, { list }: RowLines): (seq: number) => unknown {
    const missing = list.filter((line) => line.endsWith('\n')).map(seqOf)
    const rows = missing.length === 0 ? [] : shortBodies.all(sid, JSON.stringify(missing))
    const short = new Map(rows.map(({ seq, body }) => [Number(seq), body]))
    return (seq) => short.get(seq) ?? oneBody.get(sid, seq)?.['body']
  }

  /** Returns one answer for each seq: a missing or damaged row is a lost record. */
  function read(
    session: string,
    { after, upTo, limit, charsMax = Number.POSITIVE_INFINITY, newestFirst: isDown = false, types }: ReadRange,
  ): RecordTexts {
    const wanted = types === undefined ? null : new Set<string>(types)
    const ranges = lineage(session, after, upTo ?? Number.MAX_SAFE_INTEGER)
    const page = createPage(limit, charsMax)
    for (const range of isDown ? ranges : ranges.toReversed()) {
      if (page.isFull()) break
      addRange(page, range, wanted, isDown)
    }
    return page.texts()
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
      const lines = readLines(sid, seqs, { count, isDown, skipsNonMessages })
      const bodyOf = readBodies(sid, lines)
      let end = -1
      for (const line of lines.list) {
        const start = end + 1
        end = start + line.length
        const seq = seqOf(line)
        if (lines.isComplete) next = seq
        else loseUntil(seq)
        if (page.isFull()) return
        next += step
        const type = typeOf(line)
        if (skipsNonMessages && nonMessageTypes.has(type)) continue
        const place = { text: lines.joined, start, end }
        const stored = line.endsWith('\n') ? bodyOf(seq) : null
        addLine(page, { seq, line, place, stored, begun }, wanted === null || wanted.has(type))
      }
      if (lines.isComplete) next = isDown ? lines.coveredSeqs.from - 1 : lines.coveredSeqs.upTo + 1
      else if (lines.list.length < count) loseUntil(isDown ? from - 1 : upTo + 1)
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

type StoredLine = {
  readonly seq: number
  readonly line: string
  readonly place: Place
  /** The body, if it is not part of the line. */
  readonly stored: unknown
  readonly begun: number
}

/** Adds a record that is wanted. One that does not match its checksum is lost: it may have had any of the types. */
function addLine(page: Page, { seq, line, place, stored, begun }: StoredLine, isWanted: boolean): void {
  if (isWanted && isDecompressedLater(stored)) {
    page.addCompressed({ head: line, bytes: stored, begun })
    return
  }
  const whole = stored === null ? line : `${line}${decompressBody(stored)}`
  if (!isIntact(whole, begun)) page.lose(seq)
  else if (isWanted) page.add(stored === null ? place : { text: whole, start: 0, end: whole.length })
}

const isDecompressedLater = (stored: unknown): stored is Uint8Array =>
  stored instanceof Uint8Array && (decompressedBytes(stored) ?? Number.POSITIVE_INFINITY) <= decompressedLaterBytes

function countRows(missing: number, isFiltered: boolean): number {
  if (!isFiltered) return Math.min(missing, rowsAtOnce.max)
  return Math.min(Math.max(missing * rowsPerMatch, rowsAtOnce.min), rowsAtOnce.max)
}

/** Where a line is in a text. */
type Place = { readonly text: string; readonly start: number; readonly end: number }

type Page = ReturnType<typeof createPage>

/** Collects a page. Lines that follow each other in one text stay one text. */
function createPage(limit: number, charsMax: number) {
  const page: (string | CompressedText | number)[] = []
  let run: Place | null = null
  let [records, chars] = [0, 0]
  const endRun = () => {
    if (run) page.push(run.text.slice(run.start, run.end))
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
    add(place: Place): void {
      const { text, start, end } = place
      if (run?.text === text && run.end + 1 === start) run = { text, start: run.start, end }
      else {
        endRun()
        run = place
      }
      count(end - start)
    },
    addCompressed(text: CompressedText): void {
      endRun()
      page.push(text)
      count(decompressedBytes(text.bytes) ?? 0)
    },
    lose(seq: number): void {
      endRun()
      page.push(seq)
      count(0)
    },
    texts(): RecordTexts {
      endRun()
      return page
    },
  }
}
