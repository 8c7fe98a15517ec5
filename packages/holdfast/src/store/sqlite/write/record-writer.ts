import type { DatabaseSync } from 'node:sqlite'
import type { TrustChange } from '@holdfast/core/ports'
import type { Fault } from '@holdfast/protocol/fault'
import { done, refuse } from '@holdfast/protocol/result'
import * as faults from '../../store-faults.ts'
import { checksumOf } from '../../stored-record.ts'
import { compressBody } from '../rows/columns.ts'
import type { RecordColumns, SessionToCreate, WriteRequests } from '../rows/requests.ts'
import { createChargeWriter } from './spending-writer.ts'

const cachedSidsMax = 10_000

/** Creates sessions and appends to them. All checks come before the first change, so a refusal changes nothing. */
export function createRecordWriter(database: DatabaseSync): Pick<WriteRequests, 'append' | 'create'> {
  const rows = createRecordRows(database)
  return { append: createAppend(database, rows), create: createCreate(database, rows) }
}

type RecordRows = ReturnType<typeof createRecordRows>

/** Inserts the rows that belong to records, for new and existing sessions. */
function createRecordRows(database: DatabaseSync) {
  const insert = database.prepare(`
    insert into record (sid, seq, at, type, v, client, command_id, ref, crc, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const useBlob = database.prepare('insert or ignore into blob_use (hash, sid, seq) values (?, ?, ?)')
  return {
    insertAll(sid: number, session: string, records: readonly RecordColumns[]): void {
      for (const [seq, at, type, v, by, commandId, ref, body] of records) {
        const crc = checksumOf(session, { seq, at, type, v, by, commandId, ref, body })
        insert.run(sid, seq, at, type, v, by, commandId, ref, crc, compressBody(body))
      }
    },
    /** Marks blobs as used by the first record of the batch, so that they stay while any record of it does. */
    useBlobs(sid: number, seq: number, hashes: readonly string[]): void {
      for (const hash of hashes) useBlob.run(hash, sid, seq)
    },
  }
}

function createAppend(database: DatabaseSync, { insertAll, useBlobs }: RecordRows): WriteRequests['append'] {
  const seqOfCommand = database.prepare('select seq from record where sid = ? and command_id = ?')
  // The usual append changes head and meta only: no index of `session` is touched.
  const advance = database.prepare(`
    update session set head = ?, meta = ?
    where sid = ? and head = ? and epoch = ? and active_at = ? and busy = ? and spoken = ? and workspace = ? and pinned = ?`)
  const advanceAll = database.prepare(`
    update session set head = ?, meta = ?, active_at = ?, busy = ?, spoken = ?, workspace = ?, pinned = ?
    where sid = ? and head = ? and epoch = ?`)
  const headAndEpoch = database.prepare('select head, epoch from session where sid = ?')
  const dropDraft = database.prepare('delete from draft where sid = ?')
  const insertHash = database.prepare('insert or replace into command_hash (sid, seq, hash) values (?, ?, ?)')
  const sids = createSidCache(database)
  const changeTrust = createTrustWriter(database)
  const addCharge = createChargeWriter(database)

  const append: WriteRequests['append'] = (...change) => {
    const [session, after, epoch, entry, records, clearDraft, blobs, trust, charge, commandHash] = change
    const sid = sids.get(session)
    if (sid === null) return refuse(faults.sessionNotFound(session))
    for (const { 5: commandId } of records) {
      const first = commandId === null ? undefined : seqOfCommand.get(sid, commandId)
      if (first !== undefined) return refuse(findReason(session, sid, after, epoch, Number(first['seq'])))
    }
    const [meta, workspace, activeAt, spoken, busy, pinned] = entry
    const head = after + records.length
    const isAdvanced =
      advance.run(head, meta, sid, after, epoch, activeAt, busy, spoken, workspace, pinned).changes === 1 ||
      advanceAll.run(head, meta, activeAt, busy, spoken, workspace, pinned, sid, after, epoch).changes === 1
    if (!isAdvanced) {
      sids.forget(session)
      return sids.get(session) === sid ? refuse(findReason(session, sid, after, epoch, null)) : append(...change)
    }

    insertAll(sid, session, records)
    if (commandHash !== null) insertHash.run(sid, after + 1, commandHash)
    if (clearDraft) dropDraft.run(sid)
    useBlobs(sid, after + 1, blobs)
    for (const one of trust) changeTrust(workspace, one)
    if (charge !== null) addCharge(charge)
    return done
  }

  /** Returns why an append is refused: an old epoch before all else, then a repeated command, then a moved log. */
  function findReason(session: string, sid: number, after: number, epoch: number, seenAt: number | null): Fault {
    const row = headAndEpoch.get(sid)
    if (row === undefined) return faults.sessionNotFound(session)
    if (row['epoch'] !== epoch) return faults.fenced(session, epoch, Number(row['epoch']))
    if (seenAt !== null) return faults.commandSeen(seenAt)
    return faults.logMoved(session, after, Number(row['head']))
  }
  return append
}

/**
 * Caches the sid of each session. A sid is never reused (autoincrement), so a cached one of a removed session matches no
 * row. A session that is imported again under the same id gets a new sid, which is then looked up.
 */
function createSidCache(database: DatabaseSync) {
  const sidById = database.prepare('select sid from session where id = ?')
  const sids = new Map<string, number>()
  return {
    get(session: string): number | null {
      const known = sids.get(session)
      if (known !== undefined) return known
      const row = sidById.get(session)
      if (row === undefined) return null
      if (sids.size >= cachedSidsMax) sids.clear()
      sids.set(session, Number(row['sid']))
      return Number(row['sid'])
    },
    forget: (session: string) => sids.delete(session),
  }
}

function createTrustWriter(database: DatabaseSync) {
  const grantTrust = database.prepare('insert or ignore into trust (workspace, tool, args_hash) values (?, ?, ?)')
  const revokeTool = database.prepare('delete from trust where workspace = ? and tool = ?')
  const revokeAll = database.prepare('delete from trust where workspace = ?')
  return (workspace: string, change: TrustChange): void => {
    if (change.type === 'granted') grantTrust.run(workspace, change.trust.tool, change.trust.argsHash ?? '')
    else if (change.tool === null) revokeAll.run(workspace)
    else revokeTool.run(workspace, change.tool)
  }
}

function createCreate(database: DatabaseSync, { insertAll, useBlobs }: RecordRows): WriteRequests['create'] {
  const sameNames = database.prepare('select id, handle, key from session where id = ? or handle = ? or key = ?')
  const parentById = database.prepare('select sid from session where id = ? and head >= ?')
  const insertSession = database.prepare(`
    insert into session (id, handle, key, parent, base, head, epoch, owner, busy, workspace, active_at, spoken, pinned, meta)
    values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning sid`)
  const insertStartedFor = database.prepare('insert into started_for (sid, parent) values (?, ?)')

  return (newSession) => {
    const { session, parent, base, owner, handle, key, records, entry } = newSession
    const findTaken = () => findTakenName(newSession, sameNames.all(session, handle, key))
    const parentRow = parent === null ? undefined : parentById.get(parent, base)
    if (parent !== null && parentRow === undefined) return refuse(findTaken() ?? faults.sessionNotFound(parent))

    const [meta, workspace, activeAt, spoken, busy, pinned] = entry
    const parentSid = parentRow === undefined ? null : Number(parentRow['sid'])
    const row = insertSession.get(
      ...[session, handle, key, parentSid, base, base + records.length],
      ...[owner, busy, workspace, activeAt, spoken, pinned, meta],
    )
    // Names are almost always free, so they are looked up only after a conflict: the insert looks at the same indexes.
    if (row === undefined) return refuse(findTaken() ?? faults.sessionExists(session))
    const sid = Number(row['sid'])
    if (newSession.startedFor !== null) insertStartedFor.run(sid, newSession.startedFor)
    insertAll(sid, session, records)
    useBlobs(sid, base + 1, newSession.blobs)
    return done
  }
}

/** Checks the id first, then the handle, then the key: every store reports the same conflict. */
function findTakenName(
  { session, handle, key }: SessionToCreate,
  others: readonly Record<string, unknown>[],
): Fault | null {
  const holderOf = (column: string, value: string | null) =>
    value === null ? undefined : others.find((other) => other[column] === value)
  if (holderOf('id', session)) return faults.sessionExists(session)
  const sameHandle = holderOf('handle', handle)
  if (sameHandle) return faults.handleTaken(handle, String(sameHandle['id']))
  const sameKey = holderOf('key', key)
  return sameKey && key !== null ? faults.keyTaken(key, String(sameKey['id'])) : null
}
