import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { blobsOf, decide, type SessionCommand } from '@holdfast/core'
import type { Blobs } from '@holdfast/core/ports'
import {
  type BlobHash,
  CommandId,
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
import type { Remark } from '../parse/conversation.ts'
import { isObject, type Loose, textOf } from '../parse/loose.ts'
import { parsed, readLines } from '../parse/read-lines.ts'
import { isLoose } from '../write/harmless.ts'
import { createPast, type Past } from '../write/past.ts'

const versions: Readonly<Record<string, number>> = { [exportFormat]: exportVersion, [logFormat]: logVersion }

export const isOwnHead = (value: unknown): value is Loose =>
  isObject(value) && Object.hasOwn(versions, String(value['format']))

/**
 * Reads Holdfast's own lines: the sessions of the file, oldest ancestor first, each as far as its records are whole and
 * fold. Blobs go where blobs are kept.
 */
export async function readOwnLog(file: FileHandle, blobs: Blobs, remark: Remark): Promise<Result<readonly Past[]>> {
  const pasts: Past[] = []
  let current: Past | null = null
  let isBroken = false
  const taker = createBlobTaker(blobs, remark)
  for await (const lines of readLines(file, remark)) {
    for (const { number, bytes } of lines) {
      const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const value = parsed(line.toString('utf8'))
      if (isOwnHead(value)) {
        const head = readHead(value, line)
        if (!head.ok) return head
        current = createPast(head.value)
        pasts.push(current)
        isBroken = false
      } else if (current === null || isBroken) continue
      else if (isObject(value) && 'blob' in value)
        await taker.take(value, readChecksum(current.session, line) !== null, number)
      else {
        const why = addRecord(current, line)
        if (why === null) continue
        isBroken = true
        remark(number, 'damaged_line', `${why} What follows it in this session was left out.`)
      }
    }
  }
  for (const past of pasts) await tellMissing(past, blobs, remark)
  return ok(pasts.filter(({ records }) => records.length > 0))
}

function readHead(value: Loose, line: Buffer): Result<Parameters<typeof createPast>[0]> {
  const session = SessionId.safeParse(value['session'])
  const parent = SessionId.nullable().safeParse(value['parent'])
  const { base } = value
  if (Number(value['version']) > (versions[String(value['format'])] ?? 0))
    return refuse(fault('store_too_new', 'The file was written by a newer Holdfast.'))
  if (
    !session.success ||
    !parent.success ||
    !Number.isInteger(base) ||
    Number(base) < 0 ||
    readChecksum(session.data, line) === null
  )
    return refuse(fault('bad_request', 'The header of the file is damaged.'))
  return ok({ session: session.data, parent: parent.data, base: Number(base) })
}

/** Adds what the line holds; otherwise says why it cannot. */
function addRecord(past: Past, line: Buffer): string | null {
  const read = parseRecord(past.session, past.next, line)
  if ('lost' in read) return 'A record is missing or damaged.'
  const record = Recorded.safeParse(read)
  // Kept as it was written, to the order of its names; what we would read otherwise than it stands is none of ours.
  if (!record.success || !isReadAs(record.data, read)) return 'A record is of no form we know.'
  try {
    past.addRecord(read)
    return null
  } catch (cause) {
    if (!(cause instanceof InvariantViolation)) throw cause
    return `A record does not fit what was before it (${cause.message}).`
  }
}

/** A schema drops the name `__proto__`, which a model may give an argument: as a name of its own it does nothing, and stays. */
const isReadAs = (data: Recorded, read: Recorded): boolean =>
  isDeepStrictEqual(data, read) || (hasNoProto(read) && isDeepStrictEqual(withoutProto(data), withoutProto(read)))

const proto = '__proto__'
/** What the fold itself reads has no such name. */
const hasNoProto = (read: Recorded): boolean => !Object.hasOwn(read, proto) && !Object.hasOwn(read.event, proto)

const withoutProto = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, inner) => (name === proto ? undefined : inner))

/** Holds the pieces of one blob, and stores it when it is whole and is what its name says. */
function createBlobTaker(blobs: Blobs, remark: Remark) {
  let held: Uint8Array[] = []
  let heldBytes = 0
  let name = ''
  return {
    async take(value: Loose, isSealed: boolean, line: number): Promise<void> {
      const blob = textOf(value['blob']) ?? ''
      if (value['piece'] === 0 || blob !== name) {
        held = []
        heldBytes = 0
        name = blob
      }
      const piece = Buffer.from(textOf(value['base64']) ?? '', 'base64')
      heldBytes += piece.length
      if (isSealed && value['piece'] === held.length && heldBytes <= limits.blobBytesMax) held.push(piece)
      if (value['isLast'] !== true) return
      const digest = held.reduce((hash, one) => hash.update(one), createHash('sha256')).digest('hex')
      if (digest !== blob)
        return remark(line, 'damaged_line', 'A file whose bytes are not what its name says was left out.')
      const put = await blobs.put(held)
      if (!put.ok) remark(line, 'blob_missing', put.fault.message)
      held = []
    },
  }
}

async function tellMissing({ records }: Past, blobs: Blobs, remark: Remark): Promise<void> {
  const named = new Set<BlobHash>(records.flatMap(({ record }) => blobsOf(record.event)))
  let missing = 0
  for (const hash of named) if (!(await blobs.has(hash))) missing++
  if (missing > 0) remark(null, 'blob_missing', `${missing} files that its records name are not in it.`)
}

/**
 * A session that comes from elsewhere is at rest, and nothing in it is approved any more: what it was doing when it was
 * written out is ended, and every standing approval is revoked.
 */
export function bringToRest(past: Past, at: number, remark: Remark): void {
  const commandId = CommandId.parse('import')
  const give = (command: SessionCommand) => {
    const decided = decide(past.folded.state, { type: 'command', command, commandId, by: null, facts: {} })
    if (!decided.ok) return
    for (const event of decided.value) past.add(event, at)
  }
  const { turn, queue } = past.folded.state
  if (turn.phase !== 'idle' || queue.length > 0) {
    remark(
      null,
      'brought_to_rest',
      'It was at work when it was written out; that turn is aborted, and what waited is taken back.',
    )
    give({ type: 'clearQueues' })
    give({ type: 'abort' })
    give({ type: 'clearQueues' })
  }
  const { trust, settings } = past.folded.state
  const { permissions = [] } = settings
  if (trust.length > 0) past.add({ type: 'trust.revoked', tool: null }, at)
  const wasLoose = isLoose(settings)
  if (wasLoose)
    past.add(
      {
        type: 'settings.changed',
        approvals: 'destructive',
        permissions: permissions.filter(({ verdict }) => verdict !== 'allow'),
      },
      at,
    )
  if (trust.length > 0 || wasLoose) remark(null, 'trust_revoked', 'Standing approvals that came with it were revoked.')
}
