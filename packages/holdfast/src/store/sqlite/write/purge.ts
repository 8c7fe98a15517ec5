import type { DatabaseSync } from 'node:sqlite'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { sessionLocked, sessionNotFound, sessionNotTrashed } from '../../store-faults.ts'

type Asked = { readonly session: string; readonly trashedAt: number | null }

/** Removes sessions for good, but for what others share. Works inside a transaction someone else begins. */
export function createPurge(database: DatabaseSync, lowerCursors: () => void) {
  const rowOf = database.prepare(
    'select sid, parent, owner, trashed_at from session where id = ? and purged_at is null',
  )
  const purgedRow = database.prepare('select sid, parent from session where sid = ? and purged_at is not null')
  const shared = database.prepare('select max(base) as base from session where parent = ?')
  const removals = ['record', 'draft', 'snapshot', 'blob_use', 'session'].map((table) =>
    database.prepare(`delete from ${table} where sid = ?`),
  )
  const trims = ['record', 'blob_use'].map((table) =>
    database.prepare(`delete from ${table} where sid = ? and seq > ?`),
  )
  const leftovers = ['draft', 'snapshot'].map((table) => database.prepare(`delete from ${table} where sid = ?`))
  // Its names are free again; no handle and no key has this form.
  const hide = database.prepare(`
    update session set purged_at = unixepoch(), head = ?, spoken = 0, busy = 0, trashed_at = null, meta = '',
      key = null, handle = '-' || sid
    where sid = ?`)

  /** Keeps of a session what its forks read; without forks nothing, and then perhaps nothing of its own parent either. */
  function shrink(sid: number, parent: number | null): void {
    const base = shared.get(sid)?.['base'] ?? null
    if (base !== null) {
      for (const trim of trims) trim.run(sid, Number(base))
      for (const leftover of leftovers) leftover.run(sid)
      hide.run(Number(base), sid)
      return
    }
    for (const removal of removals) removal.run(sid)
    const above = parent === null ? undefined : purgedRow.get(parent)
    if (above !== undefined) shrink(Number(above['sid']), numberOrNull(above['parent']))
  }

  return {
    /** With `trashedAt` only while it is in the trash since then. */
    purge({ session, trashedAt }: Asked): Result<undefined> {
      const row = rowOf.get(session)
      if (row === undefined) return refuse(sessionNotFound(session))
      const since = numberOrNull(row['trashed_at'])
      if (trashedAt !== null && since !== trashedAt) return refuse(sessionNotTrashed(session, since))
      if (row['owner'] !== null) return refuse(sessionLocked(session, String(row['owner'])))
      shrink(Number(row['sid']), numberOrNull(row['parent']))
      lowerCursors()
      return done
    },
  }
}

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))
