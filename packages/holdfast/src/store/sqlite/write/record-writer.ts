import type { DatabaseSync } from 'node:sqlite'
import type { Fault } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import * as faults from '../../store-faults.ts'
import { checksumOf } from '../rows/checksum.ts'
import { packBody } from '../rows/compressed-body.ts'
import type { AppendRequest, CreateRequest, StoredRecord } from '../rows/messages.ts'
import { createTrustWriter } from './trust-writer.ts'

const sidsRememberedMax = 10_000

/**
 * Creates sessions and appends to them, inside a transaction someone else begins and commits. Everything that could
 * refuse is asked before the first change, so a refusal leaves nothing behind and needs no savepoint.
 */
export function createRecordWriter(database: DatabaseSync) {
  const seen = database.prepare('select seq from record where sid = ? and command_id = ?')
  // The usual append moves head and meta only: no index of `session` is touched.
  const advance = database.prepare(`
    update session set head = ?, meta = ?
    where sid = ? and head = ? and epoch = ? and active_at = ? and busy = ? and spoken = ? and workspace = ? and pinned = ?`)
  const advanceAll = database.prepare(`
    update session set head = ?, meta = ?, active_at = ?, busy = ?, spoken = ?, workspace = ?, pinned = ?
    where sid = ? and head = ? and epoch = ?`)
  const stand = database.prepare('select head, epoch from session where sid = ?')
  const numberOf = database.prepare('select sid from session where id = ?')
  const insert = database.prepare(`
    insert into record (sid, seq, at, type, v, client, command_id, ref, crc, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const dropDraft = database.prepare('delete from draft where sid = ?')
  const useBlob = database.prepare('insert or ignore into blob_use (hash, sid, seq) values (?, ?, ?)')
  const taken = database.prepare('select id, handle, key from session where id = ? or handle = ? or key = ?')
  const parentOf = database.prepare('select sid from session where id = ? and head >= ?')
  const insertSession = database.prepare(`
    insert into session (id, handle, key, parent, base, head, epoch, owner, busy, workspace, active_at, spoken, pinned, meta)
    values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) returning sid`)

  const insertStartedFor = database.prepare('insert into started_for (sid, parent) values (?, ?)')
  const trusts = createTrustWriter(database)

  // Safe to remember: a sid is given once (autoincrement), and one that was removed matches no row. A session that was
  // removed may be imported again under its id: then it has another, and is asked for again.
  const numbers = new Map<string, number>()

  function append(request: AppendRequest): Result<undefined> {
    const { session, after, epoch, records, entry } = request
    const sid = sidOf(session)
    if (sid === null) return refuse(faults.sessionNotFound(session))
    for (const { commandId } of records) {
      const first = commandId === null ? undefined : seen.get(sid, commandId)
      if (first !== undefined) return refuse(whyNot(session, sid, request, Number(first['seq'])))
    }
    const { meta, activeAt, busy, spoken, workspace, pinned } = entry
    const head = after + records.length
    const isAdvanced =
      advance.run(head, meta, sid, after, epoch, activeAt, busy, spoken, workspace, pinned).changes === 1 ||
      advanceAll.run(head, meta, activeAt, busy, spoken, workspace, pinned, sid, after, epoch).changes === 1
    if (!isAdvanced) {
      numbers.delete(session)
      return sidOf(session) === sid ? refuse(whyNot(session, sid, request, null)) : append(request)
    }

    insertAll(sid, session, records)
    if (request.clearDraft) dropDraft.run(sid)
    useBlobs(sid, after + 1, request.blobs)
    for (const change of request.trust) trusts.apply(workspace, change)
    return done
  }

  function sidOf(session: string): number | null {
    const known = numbers.get(session)
    if (known !== undefined) return known
    const row = numberOf.get(session)
    if (row === undefined) return null
    if (numbers.size >= sidsRememberedMax) numbers.clear()
    numbers.set(session, Number(row['sid']))
    return Number(row['sid'])
  }

  function create(request: CreateRequest): Result<undefined> {
    const { session, parent, base, owner, handle, key, records, entry } = request
    const inTheWay = nameTaken(request, taken.all(session, handle, key))
    if (inTheWay !== null) return refuse(inTheWay)
    const parentRow = parent === null ? undefined : parentOf.get(parent, base)
    if (parent !== null && parentRow === undefined) return refuse(faults.sessionNotFound(parent))

    const { meta, activeAt, busy, spoken, workspace, pinned } = entry
    const parentSid = parentRow === undefined ? null : Number(parentRow['sid'])
    const row = insertSession.get(
      ...[session, handle, key, parentSid, base, base + records.length],
      ...[owner, busy, workspace, activeAt, spoken, pinned, meta],
    )
    const sid = Number(row?.['sid'])
    if (request.startedFor !== null) insertStartedFor.run(sid, request.startedFor)
    insertAll(sid, session, records)
    useBlobs(sid, base + 1, request.blobs)
    return done
  }

  /** As of the batch's first record: while any record of it is kept, as for a fork, its blobs are. */
  function useBlobs(sid: number, seq: number, hashes: readonly string[]): void {
    for (const hash of hashes) useBlob.run(hash, sid, seq)
  }

  function insertAll(sid: number, session: string, records: readonly StoredRecord[]): void {
    for (const record of records) {
      const { seq, at, type, v, by, commandId, ref, body } = record
      insert.run(sid, seq, at, type, v, by, commandId, ref, checksumOf(session, record), packBody(body))
    }
  }

  /** A former owner hears that it is fenced, whatever else is wrong; a repeated command hears where it stands. */
  function whyNot(session: string, sid: number, { after, epoch }: AppendRequest, seenAt: number | null): Fault {
    const row = stand.get(sid)
    if (row === undefined) return faults.sessionNotFound(session)
    if (row['epoch'] !== epoch) return faults.fenced(session, epoch, Number(row['epoch']))
    if (seenAt !== null) return faults.commandSeen(seenAt)
    return faults.logMoved(session, after, Number(row['head']))
  }

  return { append, create }
}

/** The id first, then the handle: of several sessions in the way, each store names the same one. */
function nameTaken({ session, handle, key }: CreateRequest, others: readonly Record<string, unknown>[]): Fault | null {
  const holderOf = (column: string, value: string | null) =>
    value === null ? undefined : others.find((other) => other[column] === value)
  if (holderOf('id', session)) return faults.sessionExists(session)
  const sameHandle = holderOf('handle', handle)
  if (sameHandle) return faults.handleTaken(handle, String(sameHandle['id']))
  const sameKey = holderOf('key', key)
  return sameKey && key !== null ? faults.keyTaken(key, String(sameKey['id'])) : null
}
