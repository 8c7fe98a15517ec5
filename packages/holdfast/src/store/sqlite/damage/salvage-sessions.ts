import type { DatabaseSync } from 'node:sqlite'
import { unlessDamaged } from './skip-damaged-pages.ts'

/** What the indexes of the sessions say of a row: enough to find its log, which tells the rest. */
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

// Each is answered by its index alone: no page of the table is read.
const questions = {
  ids: 'select sid, id as value from session indexed by sqlite_autoindex_session_1',
  handles: 'select sid, handle as value from session indexed by sqlite_autoindex_session_2',
  keys: 'select sid, key as value from session indexed by sqlite_autoindex_session_3 where key is not null',
  parents: 'select sid, parent as value from session indexed by session_children where parent is not null',
  bases: 'select sid, base as value from session indexed by session_children where parent is not null',
  trashed: `select sid, trashed_at as value from session indexed by session_trash
    where trashed_at is not null and purged_at is null`,
  purged: 'select sid, purged_at as value from session indexed by session_purged where purged_at is not null',
} as const

/** Every session there is, by the indexes of their table; null where one of those is damaged too. */
export function readDamagedSessions(database: DatabaseSync): readonly RecoveredSession[] | null {
  return unlessDamaged(
    () => {
      const ask = (what: keyof typeof questions): ReadonlyMap<number, unknown> =>
        new Map(
          database
            .prepare(questions[what])
            .all()
            .map((row) => [Number(row['sid']), row['value']]),
        )
      const [ids, handles, keys] = [ask('ids'), ask('handles'), ask('keys')]
      const [parents, bases, trashed, purged] = [ask('parents'), ask('bases'), ask('trashed'), ask('purged')]
      const numberOf = (from: ReadonlyMap<number, unknown>, sid: number) =>
        from.has(sid) ? Number(from.get(sid)) : null
      return [...ids].map(([sid, id]) => ({
        sid,
        id: String(id),
        handle: String(handles.get(sid) ?? `-${sid}`), // no session has such a handle, so it is in nobody's way
        key: keys.has(sid) ? String(keys.get(sid)) : null,
        parent: numberOf(parents, sid),
        base: numberOf(bases, sid) ?? 0,
        trashedAt: numberOf(trashed, sid),
        purgedAt: numberOf(purged, sid),
      }))
    },
    () => null,
  )
}

/**
 * Gives each session whose row was on a damaged page one again. It says where the log stands and how it is found; what a
 * list shows is of a session that was never spoken in, until the log is read: the next look finds it and mends it.
 */
export function restoreSessions(sessions: readonly RecoveredSession[], copy: DatabaseSync): void {
  const isThere = copy.prepare('select 1 from session where sid = ?')
  const last = copy.prepare('select max(seq) as head from record where sid = ?')
  const put = copy.prepare(`
    insert or ignore into session
      (sid, id, handle, key, parent, base, head, epoch, workspace, active_at, spoken, meta, trashed_at, purged_at)
    values (?, ?, ?, ?, ?, ?, ?, 1, '', 0, ?, ?, ?, ?)`)
  for (const { sid, id, handle, key, parent, base, trashedAt, purgedAt } of sessions) {
    if (isThere.get(sid) !== undefined) continue
    const head = Number(last.get(sid)?.['head'] ?? base)
    // Of a purged one nothing is shown; of any other it is not said that nobody spoke, or it would be removed.
    const [spoken, meta] = purgedAt === null ? [1, placeholderMeta(id, handle)] : [0, '']
    put.run(sid, id, handle, key, parent, base, head, spoken, meta, trashedAt, purgedAt)
  }
}

const placeholderMeta = (id: string, handle: string): string => JSON.stringify({ id, handle })
