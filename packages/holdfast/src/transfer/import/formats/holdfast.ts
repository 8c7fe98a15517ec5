import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { blobsOf, decide, type SessionCommand } from '@holdfast/core'
import {
  type BlobHash,
  CommandId,
  type Event,
  type EventOf,
  fault,
  InvariantViolation,
  limits,
  type Meta,
  ok,
  Recorded,
  type Result,
  refuse,
  type Seq,
  SessionId,
} from '@holdfast/protocol'
import { logFormat, logVersion, parseRecord, readChecksum } from '../../../store/jsonl/log/log-line.ts'
import { exportFormat, exportVersion } from '../../export/jsonl.ts'
import type { ImportHost } from '../host/import-host.ts'
import type { Remark } from '../parse/conversation.ts'
import { isObject, type JsonObject, parse, text } from '../parse/json.ts'
import { isTooComplex, type Line, type LinePlace, readLines } from '../parse/read-lines.ts'
import type { SourceFile } from '../parse/source-file.ts'
import { createImportedLog, type ImportedLog, type LogStart } from '../write/imported-log.ts'

const versions: Readonly<Record<string, number>> = { [exportFormat]: exportVersion, [logFormat]: logVersion }

export const isHoldfastHeader = (value: unknown): value is JsonObject =>
  isObject(value) && Object.hasOwn(versions, String(value['format']))

type BlobHost = Pick<ImportHost, 'hasBlob'> & {
  putBlob(pieces: readonly Uint8Array[]): Promise<Result<unknown>>
}

export type Started = EventOf<'session.started'>

type Changes = {
  /** Changes the first record of a session. */
  readonly started: (event: Started) => Promise<Started>
  /** Changes any event, after `started`. */
  readonly any: (event: Event) => Event
}

/** A session of an export or log, and the line of its header. */
export type LoggedSession = LogStart & { readonly header: LinePlace }

/** Finds the sessions of an export or log that have a first record, oldest first. Keeps nothing else of the file. */
export function findSessions(file: SourceFile, remark: Remark): Result<readonly LoggedSession[]> {
  const found: LoggedSession[] = []
  let begun: LoggedSession | null = null
  for (const line of readLines(file, remark)) {
    const bytes = bufferOf(line)
    const value = begun !== null || mayBeHeader(bytes) ? parseSmall(bytes) : null
    if (isHoldfastHeader(value)) {
      const head = readHead(value, bytes)
      if (!head.ok) return head
      begun = { ...head.value, header: { number: line.number, position: line.position } }
    } else if (begun !== null && !isBlob(value)) {
      const log = createImportedLog(begun)
      const read = readRecord(begun.session, log.nextSeq(), bytes)
      const why = typeof read === 'string' ? read : addRecord(log, read)
      if (why === null) found.push(begun)
      else remark(line.number, 'damaged_line', `${why} The rest of this session was left out.`)
      begun = null
    }
  }
  return ok(found)
}

const bufferOf = ({ bytes }: Line): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const parseSmall = (line: Buffer): unknown => (isTooComplex(line) ? undefined : parse(line.toString('utf8')))

/** A header begins with its format; other lines need not be parsed to tell. */
const mayBeHeader = (line: Buffer): boolean => line.subarray(0, formatWithin).includes('"format"')
const formatWithin = 64

const isBlob = (value: unknown): value is JsonObject => isObject(value) && 'blob' in value

type SessionReading = {
  readonly host: BlobHost
  readonly remark: Remark
  readonly changes: Changes
  /** Gets the blobs that the records refer to. */
  readonly named: Set<BlobHash>
}

/**
 * Stores the blobs of a session and adds its records to `log`, up to the first damaged one. Yields after each record, so
 * that the caller can write what is full and forget it.
 */
export async function* readSession(
  file: SourceFile,
  { session, header }: LoggedSession,
  log: ImportedLog,
  { host, remark, changes, named }: SessionReading,
): AsyncGenerator<void> {
  const receiver = createBlobReceiver(host, remark)
  // Too long lines were remarked on when the sessions were found.
  for (const line of readLines(file, () => undefined, header)) {
    const bytes = bufferOf(line)
    if (line.number === header.number) continue
    const value = mayBeHeader(bytes) || bytes.subarray(0, formatWithin).includes('"blob"') ? parseSmall(bytes) : null
    if (isHoldfastHeader(value)) return
    if (isBlob(value)) {
      await receiver.take(value, readChecksum(session, bytes) !== null, line.number)
      continue
    }
    const read = readRecord(session, log.nextSeq(), bytes)
    const why = typeof read === 'string' ? read : addRecord(log, await changeRecord(read, changes))
    if (typeof read !== 'string') for (const hash of blobsOf(read.event)) named.add(hash)
    if (why !== null) return remark(line.number, 'damaged_line', `${why} The rest of this session was left out.`)
    yield
  }
}

/** Lets the importer change a record; all others are stored as they were written. */
async function changeRecord(record: Recorded, changes: Changes): Promise<Recorded> {
  const begun = record.event.type === 'session.started' ? await changes.started(record.event) : record.event
  const event = changes.any(begun)
  return event === record.event ? record : { ...record, event }
}

/**
 * Makes a subagent a session of its own, unless it is stored as one of this parent. The trust of the session at the top
 * counts for its subagents, and a file that is imported may name any session.
 */
export function unlinkSubagent(
  event: Started,
  stored: Pick<Meta, 'parent' | 'subagent'> | null,
  remark: Remark,
): Started {
  const { subagent, parent, ...kept } = event
  if (!subagent || (stored?.subagent && stored.parent === parent)) return event
  remark(null, 'subagent_unlinked', `It was a subagent of ${parent}. It was imported as a session of its own.`)
  return kept
}

/** Drops the instructions and the provider options, which only the first record of a session has. */
export function dropOrigin({ instructions, providerOptions, ...kept }: Started, remark: Remark): Started {
  if (instructions !== undefined) remark(null, 'instructions_dropped', 'Its own instructions were left out.')
  if (providerOptions !== undefined) remark(null, 'provider_options_dropped', 'Its provider options were left out.')
  return kept
}

function readHead(value: JsonObject, line: Buffer): Result<LogStart> {
  const session = SessionId.safeParse(value['session'])
  const parent = SessionId.nullable().safeParse(value['parent'])
  const { base } = value
  if (Number(value['version']) > (versions[String(value['format'])] ?? 0))
    return refuse(fault('store_too_new', 'The file was written by a newer Holdfast. Update Holdfast to import it.'))
  const isValid = session.success && parent.success && Number.isInteger(base) && Number(base) >= 0
  if (!isValid || readChecksum(session.data, line) === null)
    return refuse(fault('bad_request', 'The header of the file is damaged.'))
  return ok({ session: session.data, parent: parent.data, base: Number(base) })
}

/** Reads the record of a line; returns a sentence if it cannot. */
function readRecord(session: SessionId, seq: Seq, line: Buffer): Recorded | string {
  if (isTooComplex(line)) return 'A record is nested too deep or has too many values.'
  const read = parseRecord(session, seq, line)
  if ('lost' in read) return 'A record is missing or damaged.'
  if (line.length > limits.importedRecordCharsMax && JSON.stringify(read.event).length > limits.importedRecordCharsMax)
    return `A record has more than ${limits.importedRecordCharsMax} characters.`
  const record = Recorded.safeParse(read)
  // The record is stored as written, so it must equal what the schema reads.
  return record.success && isEqualRecord(record.data, read) ? read : 'A record has an unknown form.'
}

/** Adds a record; returns why it cannot, or null. */
function addRecord(log: ImportedLog, record: Recorded): string | null {
  try {
    log.addRecord(record)
    return null
  } catch (cause) {
    if (!(cause instanceof InvariantViolation)) throw cause
    return `A record contradicts the records before it (${cause.message}).`
  }
}

/** Compares without `__proto__`: the schema drops that name, but an argument of a call may have it. */
const isEqualRecord = (data: Recorded, read: Recorded): boolean =>
  isDeepStrictEqual(data, read) || (hasNoProto(read) && isDeepStrictEqual(withoutProto(data), withoutProto(read)))

const proto = '__proto__'
/** The fields that the fold reads must not have it. */
const hasNoProto = (read: Recorded): boolean => !Object.hasOwn(read, proto) && !Object.hasOwn(read.event, proto)

const withoutProto = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, inner) => (name === proto ? undefined : inner))

/** Collects the pieces of a blob, and stores it if it is complete and matches its hash. */
function createBlobReceiver({ putBlob }: BlobHost, remark: Remark) {
  let pieces: Uint8Array[] = []
  let pieceBytes = 0
  let name = ''
  return {
    async take(value: JsonObject, isIntact: boolean, line: number): Promise<void> {
      const blob = text(value['blob']) ?? ''
      if (value['piece'] === 0 || blob !== name) {
        pieces = []
        pieceBytes = 0
        name = blob
      }
      const piece = Buffer.from(text(value['base64']) ?? '', 'base64')
      pieceBytes += piece.length
      if (isIntact && value['piece'] === pieces.length && pieceBytes <= limits.blobBytesMax) pieces.push(piece)
      if (value['isLast'] !== true) return
      const digest = pieces.reduce((hash, one) => hash.update(one), createHash('sha256')).digest('hex')
      if (digest !== blob) return remark(line, 'damaged_line', 'A blob that does not match its hash was left out.')
      const put = await putBlob(pieces)
      if (!put.ok) remark(line, 'blob_missing', put.fault.message)
      pieces = []
    },
  }
}

/** Remarks on blobs that records refer to and the store lacks. */
export async function remarkMissingBlobs(
  named: ReadonlySet<BlobHash>,
  { hasBlob }: BlobHost,
  remark: Remark,
): Promise<void> {
  let missing = 0
  for (const hash of named) if (!(await hasBlob(hash))) missing++
  if (missing > 0) remark(null, 'blob_missing', `${missing} blobs that its records refer to are not in the file.`)
}

/** Ends running work, so that an imported session is idle. */
export function endRunningWork(log: ImportedLog, at: number, remark: Remark): void {
  const commandId = CommandId.parse('import')
  const apply = (command: SessionCommand) => {
    const decided = decide(log.folded().state, { type: 'command', command, commandId, by: null, facts: {} })
    if (!decided.ok) return
    for (const event of decided.value) log.add(event, at)
  }
  const { turn, queue } = log.folded().state
  if (turn.phase === 'idle' && queue.length === 0) return
  remark(null, 'brought_to_rest', 'A turn was running during the export; it was aborted and its queue cleared.')
  apply({ type: 'clearQueues' })
  apply({ type: 'abort' })
  apply({ type: 'clearQueues' })
}
