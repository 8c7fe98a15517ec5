import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Fault } from '@holdfast/protocol/fault'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { faultOf } from '../../storage-fault.ts'
import { sessionLocked, sessionNotFound, sessionNotTrashed } from '../../store-faults.ts'
import { listSavedCopies } from '../files/database-file.ts'
import { numberOrNull } from '../rows/columns.ts'
import type { WriteRequests } from '../rows/requests.ts'
import { removalsName, trashingsName } from '../rows/schema.ts'

type Removals = Pick<WriteRequests, 'trash' | 'restore' | 'purge' | 'removeUnspoken'>

/** Trashes, restores and removes sessions; a purge keeps the records that forks share. The caller begins the transaction. */
export function createSessionRemover(database: DatabaseSync): Removals {
  const rowById = database.prepare(`
    select sid, parent, owner, trashed_at from session where id = ? and purged_at is null`)
  // Followers of the log compare these counts.
  const count = database.prepare(`
    insert into cursor (name, pos) values (?, 1) on conflict (name) do update set pos = pos + 1`)
  return { ...createTrash(database, rowById, count), ...createPurge(database, rowById, count) }
}

function createTrash(
  database: DatabaseSync,
  rowById: StatementSync,
  count: StatementSync,
): Pick<Removals, 'trash' | 'restore'> {
  const setTrashedAt = database.prepare('update session set trashed_at = ? where sid = ?')
  return {
    trash(session, at) {
      const row = rowById.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      if (row['owner'] !== null) return refuse(sessionLocked(session, String(row['owner'])))
      if (row['trashed_at'] !== null) return done
      setTrashedAt.run(at, Number(row['sid']))
      count.run(trashingsName)
      return done
    },

    restore(session) {
      const row = rowById.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      if (row['trashed_at'] === null) return done
      setTrashedAt.run(null, Number(row['sid']))
      count.run(trashingsName)
      return done
    },
  }
}

function createPurge(
  database: DatabaseSync,
  rowById: StatementSync,
  count: StatementSync,
): Pick<Removals, 'purge' | 'removeUnspoken'> {
  const { removeAll, shrink } = createRowRemover(database)
  // SQLite reuses the positions of removed records, so no cursor may stay beyond the last record.
  const lowerAll = database.prepare(`
    update cursor set pos = min(pos, (select coalesce(max(pos), 0) from record)) where name not in (?, ?)`)
  const unspoken = database.prepare(`
    select sid from session s where spoken = 0 and purged_at is null and (owner is null or owner in (select value from json_each(?)))
    and not exists (select 1 from session child where child.parent = s.sid)`)
  const lowerCursors = (): void => {
    count.run(removalsName)
    lowerAll.run(removalsName, trashingsName)
  }

  return {
    purge(session, trashedAt) {
      const row = rowById.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      const since = numberOrNull(row['trashed_at'])
      if (trashedAt !== null && since !== trashedAt) return refuse(sessionNotTrashed(session, since))
      if (row['owner'] !== null) return refuse(sessionLocked(session, String(row['owner'])))
      const kept = purgeFromCopies(database.location(), session)
      if (kept !== null) return refuse(kept)
      shrink(Number(row['sid']), numberOrNull(row['parent']))
      lowerCursors()
      return done
    },

    removeUnspoken(owners) {
      const rows = unspoken.all(JSON.stringify(owners))
      for (const row of rows) removeAll(Number(row['sid']))
      if (rows.length > 0) lowerCursors()
      return ok(rows.length)
    },
  }
}

/**
 * Removes a session also from the copies that were saved when the store lost its files: a repair would bring it back.
 * Returns a fault if that is not possible.
 */
function purgeFromCopies(path: string | null, session: string): Fault | null {
  for (const saved of path === null ? [] : listSavedCopies(path)) {
    try {
      using copy = new DatabaseSync(saved)
      copy.exec('begin immediate')
      const row = copy.prepare('select sid, parent from session where id = ? and purged_at is null').get(session)
      if (row !== undefined) createRowRemover(copy).shrink(Number(row['sid']), numberOrNull(row['parent']))
      copy.exec('commit')
    } catch (error) {
      return faultOf(error, saved)
    }
  }
  return null
}

function createRowRemover(database: DatabaseSync) {
  const purgedBySid = database.prepare('select sid, parent from session where sid = ? and purged_at is not null')
  const lastSharedSeq = database.prepare('select max(base) as base from session where parent = ?')
  const deleteFrom = (table: string, more = '') => database.prepare(`delete from ${table} where sid = ? ${more}`)
  const trims = ['record', 'blob_use'].map((table) => deleteFrom(table, 'and seq > ?'))
  const sideRows = ['draft', 'snapshot'].map((table) => deleteFrom(table))
  const allRows = ['record', 'draft', 'snapshot', 'blob_use', 'session'].map((table) => deleteFrom(table))
  // Frees its names; no real handle or key has this form.
  const hide = database.prepare(`
    update session set purged_at = unixepoch(), head = ?, spoken = 0, busy = 0, trashed_at = null, meta = '',
      key = null, handle = '-' || sid
    where sid = ?`)

  const removeAll = (sid: number): void => {
    for (const rows of allRows) rows.run(sid)
  }
  /** Keeps the records that forks share. Without forks, removes all of it, and then its purged parent if it was the last fork. */
  function shrink(sid: number, parent: number | null): void {
    const base = lastSharedSeq.get(sid)?.['base'] ?? null
    if (base !== null) {
      for (const trim of trims) trim.run(sid, Number(base))
      for (const sideRow of sideRows) sideRow.run(sid)
      hide.run(Number(base), sid)
      return
    }
    removeAll(sid)
    const above = parent === null ? undefined : purgedBySid.get(parent)
    if (above !== undefined) shrink(Number(above['sid']), numberOrNull(above['parent']))
  }
  return { removeAll, shrink }
}
