import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { EventType } from '@holdfast/protocol'

/** Seqs of one session, both ends included. */
export type Seqs = { readonly from: number; readonly upTo: number }

/** The next rows of a range, a line for each. */
export type RowLines = {
  /** The lines, joined by separators. */
  readonly bytes: Buffer
  /** Where each line ends. */
  readonly ends: readonly number[]
  /** The compressed bodies of the lines that have none, joined. */
  readonly compressed: Uint8Array
  /** How long each missing body is; `notRead` for one that is in neither list. */
  readonly missingBodies: readonly number[]
  /** The seqs that the lines answer for. */
  readonly coveredSeqs: Seqs
  /** Whether no row is missing: then seqs without a line are records that nobody asked for. */
  readonly isComplete: boolean
}

type LineRequest = { readonly count: number; readonly isDown: boolean; readonly skipsNonMessages: boolean }

/** Between two lines. No record has it: JSON escapes it, and no name may contain it. */
export const lineSeparator = '\x1e'
const separator = lineSeparator.charCodeAt(0)
export const lineBreak = 10

/** A longer body is read by itself, so that what is read at once is bounded. */
const bodyBytesMax = { text: 64 * 1024, compressed: 16 * 1024 }
export const notRead = -1

/**
 * SQL for the line of a row: its checksum, then all that the checksum covers, each field followed by a line break. The
 * body is left out if it is long or compressed.
 */
const hasBody = `typeof(body) = 'text' and octet_length(body) <= ${bodyBytesMax.text}`
const isCompressed = `typeof(body) = 'blob' and octet_length(body) <= ${bodyBytesMax.compressed}`
const columns = `
  concat_ws(char(${lineBreak}), crc, seq, at, type, v, ifnull(client, ''), ifnull(command_id, ''), ifnull(ref, ''),
    iif(${hasBody}, body, '')) as line,
  iif(${isCompressed}, body, null) as compressed,
  iif(${hasBody}, null, iif(${isCompressed}, octet_length(body), ${notRead})) as missing`

/**
 * Event types that never produce a message or change one: half of the records of a conversation. Reads that ask for
 * messages skip them, without a checksum.
 */
export const nonMessageTypes: ReadonlySet<string> = new Set<EventType>(['turn.started', 'turn.ended', 'step.started'])

/** Returns a function that reads the next rows of a range, each as a line. SQLite joins them: a value for each takes longer. */
export function createLineReader(database: DatabaseSync) {
  const selected = (where: string, order: string) => `
    select ${columns} from record where sid = ? and seq between ? and ? ${where} order by seq ${order} limit ?`
  const createStatements = (where: string) => ({
    up: createStatement(selected(where, '')),
    down: createStatement(selected(where, 'desc')),
  })
  const createStatement = (plain: string) => {
    let statement: StatementSync | null = null // prepared when it is used first: most programs use one of the four
    const joined = () => {
      statement ??= database.prepare(`
        select count(*) as rows, cast(group_concat(line, char(${separator})) as blob) as lines,
          cast(group_concat(compressed, '') as blob) as compressed, group_concat(missing) as missing
        from (${plain})`)
      return statement
    }
    return { plain, joined }
  }
  const every = createStatements('')
  const messages = createStatements(`and type not in ('${[...nonMessageTypes].join("', '")}')`)
  const counted = database.prepare('select count(*) as rows from record where sid = ? and seq between ? and ?')

  function readLines(
    { joined, plain }: ReturnType<typeof createStatement>,
    sid: number,
    { from, upTo }: Seqs,
    count: number,
  ): Omit<RowLines, 'coveredSeqs' | 'isComplete'> {
    const row = joined().get(sid, from, upTo, count)
    const bytes = bufferOf(row?.['lines'])
    const ends = findEnds(bytes)
    const missing = row?.['missing'] ?? null
    const missingBodies = missing === null ? [] : String(missing).split(',').map(Number)
    if (ends.length === row?.['rows']) return { bytes, ends, compressed: bufferOf(row['compressed']), missingBodies }
    // A damaged row has the separator in it, so each row is read by itself.
    const rows = database.prepare(plain).all(sid, from, upTo, count)
    return joinRows(rows.map(({ line, missing }) => ({ line: String(line), isMissing: missing !== null })))
  }

  function read(sid: number, seqs: Seqs, { count, isDown, skipsNonMessages }: LineRequest): RowLines {
    const lines = readLines((skipsNonMessages ? messages : every)[isDown ? 'down' : 'up'], sid, seqs, count)
    const last = lines.ends.length < count ? null : readHead(lines.bytes, (lines.ends.at(-2) ?? -1) + 1).seq
    const coveredSeqs = last === null ? seqs : isDown ? { ...seqs, from: last } : { ...seqs, upTo: last }
    if (!skipsNonMessages) return { ...lines, coveredSeqs, isComplete: false }
    const stored = counted.get(sid, coveredSeqs.from, coveredSeqs.upTo)?.['rows']
    if (stored === coveredSeqs.upTo - coveredSeqs.from + 1) return { ...lines, coveredSeqs, isComplete: true }
    return read(sid, seqs, { count, isDown, skipsNonMessages: false })
  }
  return read
}

function bufferOf(value: unknown): Buffer {
  if (!(value instanceof Uint8Array)) return Buffer.alloc(0)
  return Buffer.from(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength) // SQLite gives no shared memory
}

function findEnds(bytes: Buffer): number[] {
  const ends: number[] = []
  if (bytes.length === 0) return ends
  for (let end = bytes.indexOf(separator); end !== -1; end = bytes.indexOf(separator, end + 1)) ends.push(end)
  ends.push(bytes.length)
  return ends
}

/** Joins rows that were read one by one. Their missing bodies are read by themselves. */
function joinRows(rows: readonly { readonly line: string; readonly isMissing: boolean }[]) {
  let end = -1
  const ends = rows.map(({ line }) => (end += Buffer.byteLength(line) + 1))
  // Not `Buffer.from(text)`: its memory may be shared with other buffers, and cannot move to another thread.
  const bytes = Buffer.from(new TextEncoder().encode(rows.map(({ line }) => line).join(lineSeparator)).buffer)
  const missingBodies = rows.flatMap(({ isMissing }) => (isMissing ? [notRead] : []))
  return { bytes, ends, compressed: Buffer.alloc(0), missingBodies }
}

/** What a line says of its record. Of a damaged line it may be anything. */
export type LineHead = { readonly crc: number; readonly seq: number; readonly type: string }

/** The head of a line is shorter than this: two numbers, a time and the name of a type. */
const headBytesMax = 128

/**
 * Reads the head of the line that begins at `start`. A thread that has just started interprets its code, so a loop over the
 * bytes would take most of the time of a read.
 */
export function readHead(bytes: Buffer, start: number): LineHead {
  const [crc, seq, , type = ''] = bytes.toString('latin1', start, start + headBytesMax).split('\n', 4)
  return { crc: readNumber(crc), seq: readNumber(seq), type }
}

/** Returns whether a line, with its body, matches its checksum. */
export const isIntact = (bytes: Buffer, start: number, end: number, begun: number, { crc }: LineHead): boolean =>
  crc32(bytes.subarray(bytes.indexOf(lineBreak, start) + 1, end), begun) === crc

const readNumber = (text: string | undefined): number => (text ? Number(text) : Number.NaN)
