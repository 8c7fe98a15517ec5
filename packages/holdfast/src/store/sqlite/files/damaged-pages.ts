import type { DatabaseSync } from 'node:sqlite'
import { sqliteCode } from '../../storage-fault.ts'
import type { Row } from '../rows/columns.ts'

const damageCodes: ReadonlySet<number | null> = new Set([11, 26]) // SQLITE_CORRUPT, SQLITE_NOTADB
const shortRead = 522 // SQLITE_IOERR_SHORT_READ: the file ends before the page does

const isDamage = (error: unknown): boolean =>
  damageCodes.has(sqliteCode(error)) || (error instanceof Error && 'errcode' in error && error.errcode === shortRead)

/** Returns the result of `work`, or `otherwise` if it met a damaged page. */
export function unlessDamaged<Value, const Other>(otherwise: Other, work: () => Value): Value | Other {
  try {
    return work()
  } catch (error) {
    if (!isDamage(error)) throw error
    return otherwise
  }
}

/** Returns whether all pages of a table can be read, overflow pages included. */
export const isTableReadable = (database: DatabaseSync, table: string): boolean =>
  unlessDamaged(false, () => {
    for (const _ of database.prepare(`select * from "${table}" not indexed`).iterate());
    return true
  })

/** The rows of one run are held in memory until all of them are read. */
const rowsAtOnce = 1000

/** Runs `work` on each readable row range and skips rows on damaged pages. */
export function runOnReadableRows(first: number, last: number, work: (from: number, upTo: number) => void): void {
  for (let from = first; from <= last; from += rowsAtOnce)
    runInHalves(from, Math.min(last, from + rowsAtOnce - 1), work)
}

function runInHalves(from: number, upTo: number, work: (from: number, upTo: number) => void): void {
  const isDamaged = unlessDamaged(true, () => work(from, upTo)) === true
  if (!isDamaged || from === upTo) return
  const middle = Math.floor((from + upTo) / 2)
  runInHalves(from, middle, work)
  runInHalves(middle + 1, upTo, work)
}

/** Returns the last row number, from the first source that can be read. */
export const lastRecordOf = (database: DatabaseSync): number =>
  firstAnswer(database, [
    'select max(pos) as last from record not indexed',
    'select max(pos) as last from record indexed by sqlite_autoindex_record_1',
    'select max(pos) as last from cursor',
  ])
export const lastSessionOf = (database: DatabaseSync): number =>
  firstAnswer(database, [
    'select max(sid) as last from session not indexed',
    `select seq as last from sqlite_sequence where name = 'session'`,
  ])

function firstAnswer(database: DatabaseSync, questions: readonly string[]): number {
  for (const question of questions) {
    const last = unlessDamaged(null, () => database.prepare(question).get()?.['last']) ?? null
    if (last !== null) return Number(last)
  }
  return 0
}

/** Reads rows that a damaged index no longer finds. Reads through the tables once, on the first question. */
export function createDamagedReader(database: DatabaseSync, selectRecord: string) {
  let sids: ReadonlyMap<string, number> | null = null
  let positions: ReadonlyMap<string, number> | null = null
  const byPos = database.prepare(`${selectRecord} where pos = ?`)

  return {
    /** Returns the sid of a session without the index of ids. */
    findSid(session: string): number | null {
      const all = 'select id as name, sid as number from session not indexed where sid between ? and ?'
      sids ??= readNumbers(database, all, lastSessionOf(database))
      return sids.get(session) ?? null
    },
    /** Returns a record without the index of seqs, or null if it is missing or unreadable. */
    findRecord(sid: number, seq: number): Row | null {
      const all = `select sid || ' ' || seq as name, pos as number from record not indexed where pos between ? and ?`
      positions ??= readNumbers(database, all, lastRecordOf(database))
      const pos = positions.get(`${sid} ${seq}`)
      return pos === undefined ? null : unlessDamaged(null, () => byPos.get(pos) ?? null)
    },
  }
}

function readNumbers(database: DatabaseSync, select: string, last: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const rows = database.prepare(select)
  runOnReadableRows(1, last, (from, upTo) => {
    for (const row of rows.all(from, upTo)) found.set(String(row['name']), Number(row['number']))
  })
  return found
}

// An index answers each of these; no page of the table is read.
const sessionQueries = {
  ids: 'select sid, id as value from session indexed by sqlite_autoindex_session_1',
  handles: 'select sid, handle as value from session indexed by sqlite_autoindex_session_2',
  keys: 'select sid, key as value from session indexed by sqlite_autoindex_session_3 where key is not null',
  parents: 'select sid, parent as value from session indexed by session_children where parent is not null',
  bases: 'select sid, base as value from session indexed by session_children where parent is not null',
  trashed: `select sid, trashed_at as value from session indexed by session_trash
    where trashed_at is not null and purged_at is null`,
  purged: 'select sid, purged_at as value from session indexed by session_purged where purged_at is not null',
} as const

/**
 * Reads all sessions from the indexes of their table: enough to find their logs. Returns null if the index of ids is
 * damaged too. From another damaged index, takes what can be read.
 */
export function readDamagedSessions(database: DatabaseSync) {
  return unlessDamaged(null, () => {
    const readAll = (name: keyof typeof sessionQueries): ReadonlyMap<unknown, unknown> =>
      new Map(Array.from(database.prepare(sessionQueries[name]).iterate(), (row) => [row['sid'], row['value']]))
    const read = (name: keyof typeof sessionQueries) => unlessDamaged(new Map<unknown, unknown>(), () => readAll(name))
    const [ids, handles, keys] = [readAll('ids'), read('handles'), read('keys')]
    const [parents, bases, trashed, purged] = [read('parents'), read('bases'), read('trashed'), read('purged')]
    const numberOf = (from: ReadonlyMap<unknown, unknown>, sid: unknown) =>
      from.has(sid) ? Number(from.get(sid)) : null
    return [...ids].map(([sid, id]) => ({
      sid: Number(sid),
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

/** Inserts a row for each session whose row was lost. The next check finds its placeholder and restores it from the log. */
export function restoreSessions(
  sessions: NonNullable<ReturnType<typeof readDamagedSessions>>,
  copy: DatabaseSync,
): void {
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
