import type { DatabaseSync } from 'node:sqlite'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { sessionLocked, sessionNotFound, sessionNotTrashed } from '../../store-faults.ts'
import type { Changes } from '../rows/messages.ts'
import type { CursorWriter } from './cursor-writer.ts'

type Removals = Pick<Changes, 'trash' | 'restore' | 'purge' | 'removeUnspoken'>

/** Trashes, restores and removes sessions; a purge keeps the records that forks share. The caller begins the transaction. */
export function createSessionRemover(
  database: DatabaseSync,
  { lowerCursors, countTrashing }: Pick<CursorWriter, 'lowerCursors' | 'countTrashing'>,
): Removals {
  const rowById = database.prepare(
    'select sid, parent, owner, trashed_at from session where id = ? and purged_at is null',
  )
  const setTrashedAt = database.prepare('update session set trashed_at = ? where sid = ?')
  const purgedBySid = database.prepare('select sid, parent from session where sid = ? and purged_at is not null')
  const lastSharedSeq = database.prepare('select max(base) as base from session where parent = ?')
  const deletions = ['record', 'draft', 'snapshot', 'blob_use', 'session'].map((table) =>
    database.prepare(`delete from ${table} where sid = ?`),
  )
  const trims = ['record', 'blob_use'].map((table) =>
    database.prepare(`delete from ${table} where sid = ? and seq > ?`),
  )
  const sideRows = ['draft', 'snapshot'].map((table) => database.prepare(`delete from ${table} where sid = ?`))
  // Frees its names; no real handle or key has this form.
  const hide = database.prepare(`
    update session set purged_at = unixepoch(), head = ?, spoken = 0, busy = 0, trashed_at = null, meta = '',
      key = null, handle = '-' || sid
    where sid = ?`)
  const unspoken = database.prepare(`
    select sid from session s where spoken = 0 and purged_at is null and (owner is null or owner in (select value from json_each(?)))
    and not exists (select 1 from session child where child.parent = s.sid)`)

  const removeAll = (sid: number): void => {
    for (const deletion of deletions) deletion.run(sid)
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

  return {
    trash(session, at) {
      const row = rowById.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      if (row['owner'] !== null) return refuse(sessionLocked(session, String(row['owner'])))
      if (row['trashed_at'] !== null) return done
      setTrashedAt.run(at, Number(row['sid']))
      countTrashing()
      return done
    },

    restore(session) {
      const row = rowById.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      if (row['trashed_at'] === null) return done
      setTrashedAt.run(null, Number(row['sid']))
      countTrashing()
      return done
    },

    purge(session, trashedAt) {
      const row = rowById.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      const since = numberOrNull(row['trashed_at'])
      if (trashedAt !== null && since !== trashedAt) return refuse(sessionNotTrashed(session, since))
      if (row['owner'] !== null) return refuse(sessionLocked(session, String(row['owner'])))
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

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))
