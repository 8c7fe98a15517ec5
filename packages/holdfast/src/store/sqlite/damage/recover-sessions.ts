import type { DatabaseSync } from 'node:sqlite'
import { unlessDamaged } from './skip-damaged-pages.ts'

/** The fields of a session that the indexes contain: enough to find its log, which has the rest. */
export type RecoveredSession = {
  readonly sid: number
  readonly id: string
  readonly handle: string
  readonly key: string | null
  readonly parent: number | null
  readonly base: number
  readonly trashedAt: number | null
  readonly purgedAt: number | null
}

// An index answers each of these; no page of the table is read.
const queries = {
  ids: 'select sid, id as value from session indexed by sqlite_autoindex_session_1',
  handles: 'select sid, handle as value from session indexed by sqlite_autoindex_session_2',
  keys: 'select sid, key as value from session indexed by sqlite_autoindex_session_3 where key is not null',
  parents: 'select sid, parent as value from session indexed by session_children where parent is not null',
  bases: 'select sid, base as value from session indexed by session_children where parent is not null',
  trashed: `select sid, trashed_at as value from session indexed by session_trash
    where trashed_at is not null and purged_at is null`,
  purged: 'select sid, purged_at as value from session indexed by session_purged where purged_at is not null',
} as const

/** Reads all sessions from the indexes of their table. Returns null if an index is damaged too. */
export function readDamagedSessions(database: DatabaseSync): readonly RecoveredSession[] | null {
  return unlessDamaged(null, () => {
    const read = (name: keyof typeof queries): ReadonlyMap<number, unknown> =>
      new Map(
        database
          .prepare(queries[name])
          .all()
          .map((row) => [Number(row['sid']), row['value']]),
      )
    const [ids, handles, keys] = [read('ids'), read('handles'), read('keys')]
    const [parents, bases, trashed, purged] = [read('parents'), read('bases'), read('trashed'), read('purged')]
    const numberOf = (from: ReadonlyMap<number, unknown>, sid: number) => (from.has(sid) ? Number(from.get(sid)) : null)
    return [...ids].map(([sid, id]) => ({
      sid,
      id: String(id),
      handle: String(handles.get(sid) ?? `-${sid}`), // no real handle has this form, so it cannot conflict
      key: keys.has(sid) ? String(keys.get(sid)) : null,
      parent: numberOf(parents, sid),
      base: numberOf(bases, sid) ?? 0,
      trashedAt: numberOf(trashed, sid),
      purgedAt: numberOf(purged, sid),
    }))
  })
}

/**
 * Inserts a row for each session whose row was on a damaged page. It has the head and the names. Its metadata is a
 * placeholder: the next check finds it and restores it from the log.
 */
export function restoreSessions(sessions: readonly RecoveredSession[], copy: DatabaseSync): void {
  const bySid = copy.prepare('select 1 from session where sid = ?')
  const last = copy.prepare('select max(seq) as head from record where sid = ?')
  const put = copy.prepare(`
    insert or ignore into session
      (sid, id, handle, key, parent, base, head, epoch, workspace, active_at, spoken, meta, trashed_at, purged_at)
    values (?, ?, ?, ?, ?, ?, ?, 1, '', 0, ?, ?, ?, ?)`)
  for (const { sid, id, handle, key, parent, base, trashedAt, purgedAt } of sessions) {
    if (bySid.get(sid) !== undefined) continue
    const head = Number(last.get(sid)?.['head'] ?? base)
    // A purged session is not shown. Any other counts as spoken; otherwise a cleanup would remove it.
    const [spoken, meta] = purgedAt === null ? [1, JSON.stringify({ id, handle })] : [0, '']
    put.run(sid, id, handle, key, parent, base, head, spoken, meta, trashedAt, purgedAt)
  }
}
