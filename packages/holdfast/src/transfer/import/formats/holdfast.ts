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
  ok,
  Recorded,
  type Result,
  refuse,
  SessionId,
} from '@holdfast/protocol'
import { logFormat, logVersion, parseRecord, readChecksum } from '../../../store/jsonl/log/log-line.ts'
import { exportFormat, exportVersion } from '../../export/jsonl.ts'
import type { ImportHost } from '../host/import-host.ts'
import type { Remark } from '../parse/conversation.ts'
import { isObject, type JsonObject, parse, text } from '../parse/json.ts'
import { readLines } from '../parse/read-lines.ts'
import type { SourceFile } from '../parse/source-file.ts'
import { createImportedLog, type ImportedLog, type LogStart } from '../write/imported-log.ts'

const versions: Readonly<Record<string, number>> = { [exportFormat]: exportVersion, [logFormat]: logVersion }

export const isHoldfastHeader = (value: unknown): value is JsonObject =>
  isObject(value) && Object.hasOwn(versions, String(value['format']))

type BlobHost = Pick<ImportHost, 'putBlob' | 'hasBlob'>

type Started = EventOf<'session.started'>

type Changes = {
  /** Changes the first record of a session. */
  readonly started: (event: Started) => Promise<Started>
  /** Changes any record, after `started`. */
  readonly any: (event: Event) => Event
}

/** Stores the blobs of an export or log, and reads its sessions, oldest first, each up to its first damaged record. */
export async function readHoldfastLog(
  file: SourceFile,
  host: BlobHost,
  remark: Remark,
  changes: Changes,
): Promise<Result<readonly ImportedLog[]>> {
  const logs: ImportedLog[] = []
  let current: ImportedLog | null = null
  let isBroken = false
  const taker = createBlobReceiver(host, remark)
  const named = new Set<BlobHash>()
  for (const { number, bytes } of readLines(file, remark)) {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const value = parse(line.toString('utf8'))
    if (isHoldfastHeader(value)) {
      const head = readHead(value, line)
      if (!head.ok) return head
      current = createImportedLog(head.value)
      logs.push(current)
      isBroken = false
    } else if (current === null || isBroken) continue
    else if (isObject(value) && 'blob' in value)
      await taker.take(value, readChecksum(current.session, line) !== null, number)
    else {
      const read = readRecord(current, line)
      const why = typeof read === 'string' ? read : addRecord(current, await changeRecord(read, changes))
      if (typeof read !== 'string') for (const hash of blobsOf(read.event)) named.add(hash)
      if (why === null) continue
      isBroken = true
      remark(number, 'damaged_line', `${why} The rest of this session was left out.`)
    }
  }
  await remarkMissingBlobs(named, host, remark)
  return ok(logs.filter(({ next, base }) => next > base + 1))
}

/** Lets the importer change a record; all others are stored as they were written. */
async function changeRecord(record: Recorded, changes: Changes): Promise<Recorded> {
  const begun = record.event.type === 'session.started' ? await changes.started(record.event) : record.event
  const event = changes.any(begun)
  return event === record.event ? record : { ...record, event }
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
function readRecord(log: ImportedLog, line: Buffer): Recorded | string {
  const read = parseRecord(log.session, log.next, line)
  if ('lost' in read) return 'A record is missing or damaged.'
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

async function remarkMissingBlobs(named: ReadonlySet<BlobHash>, { hasBlob }: BlobHost, remark: Remark): Promise<void> {
  let missing = 0
  for (const hash of named) if (!(await hasBlob(hash))) missing++
  if (missing > 0) remark(null, 'blob_missing', `${missing} blobs that its records refer to are not in the file.`)
}

/** Ends running work, so that an imported session is idle. */
export function endRunningWork(log: ImportedLog, at: number, remark: Remark): void {
  const commandId = CommandId.parse('import')
  const apply = (command: SessionCommand) => {
    const decided = decide(log.folded.state, { type: 'command', command, commandId, by: null, facts: {} })
    if (!decided.ok) return
    for (const event of decided.value) log.add(event, at)
  }
  const { turn, queue } = log.folded.state
  if (turn.phase === 'idle' && queue.length === 0) return
  remark(null, 'brought_to_rest', 'A turn was running during the export; it was aborted and its queue cleared.')
  apply({ type: 'clearQueues' })
  apply({ type: 'abort' })
  apply({ type: 'clearQueues' })
}
