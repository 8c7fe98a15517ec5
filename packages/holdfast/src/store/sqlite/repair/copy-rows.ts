import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import {
  isTableReadable,
  lastRecordOf,
  lastSessionOf,
  readDamagedSessions,
  restoreSessions,
  runOnReadableRows,
  unlessDamaged,
} from '../files/damaged-pages.ts'
import { openForWriting } from '../files/database-file.ts'
import { fillStartedFor, hasTable, searchCursorName } from '../rows/schema.ts'
import { skipWrongTypes } from './page-rows.ts'

/** Copies every readable row to a new store. Returns the first problem that SQLite finds in the copy, or null. */
export function copyRows(damaged: DatabaseSync, to: string): string | null {
  using copy = openForWriting(to)
  const [sessions, records] = [lastSessionOf(damaged), lastRecordOf(damaged)]
  copy.exec('begin immediate')
  copyNumbered(damaged, copy, { table: 'session', key: 'sid', last: sessions })
  copyNumbered(damaged, copy, { table: 'record', key: 'pos', last: records })
  if (!isTableReadable(damaged, 'session')) restoreSessions(readDamagedSessions(damaged) ?? [], copy)
  for (const table of ['draft', 'snapshot']) copyNumbered(damaged, copy, { table, key: 'sid', last: sessions })
  // Some stores of version 2 lack this table; the session rows have the same data.
  if (hasTable(damaged, 'started_for'))
    copyNumbered(damaged, copy, { table: 'started_for', key: 'sid', last: sessions })
  copy.exec(fillStartedFor)
  for (const table of ['node', 'trust', 'blob_use', 'cursor']) copySmall(damaged, copy, table)
  for (const table of ['command_hash', 'token', 'spending', 'cap'])
    if (hasTable(damaged, table)) copySmall(damaged, copy, table)
  // Rebuilds the word index from the first record on.
  copy.prepare('delete from cursor where name = ?').run(searchCursorName)
  // The sid of a removed session is never reused.
  copy.prepare(`update sqlite_sequence set seq = max(seq, ?) where name = 'session'`).run(sessions)
  copy.exec('commit')
  return findIntegrityProblem(copy)
}

/** Returns the first problem that SQLite finds in a database, or null. */
export function findIntegrityProblem(database: DatabaseSync): string | null {
  const message = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
  return message === 'ok' ? null : String(message)
}

type Numbered = { readonly table: string; readonly key: string; readonly last: number }

function copyNumbered(damaged: DatabaseSync, copy: DatabaseSync, { table, key, last }: Numbered): void {
  const rows = damaged.prepare(`select * from ${table} not indexed where ${key} between ? and ?`)
  const insert = createInsert(copy, table)
  runOnReadableRows(1, last, (from, upTo) => {
    for (const row of rows.all(from, upTo)) insert(row)
  })
}

/** Copies a small table without row numbers: the rows before the damage, then the rows after it. */
function copySmall(damaged: DatabaseSync, copy: DatabaseSync, table: string): void {
  const insert = createInsert(copy, table)
  for (const order of ['asc', 'desc']) {
    unlessDamaged(undefined, () => {
      for (const row of damaged.prepare(`select * from ${table} order by 1 ${order}`).iterate()) insert(row)
    })
  }
}

/** Ignores rows that exist already or conflict: a damaged page may repeat another. */
function createInsert(copy: DatabaseSync, table: string): (row: Record<string, SQLOutputValue>) => void {
  const columns = copy.prepare(`select * from ${table} limit 0`).columns()
  const statement = copy.prepare(`insert or ignore into ${table} values (${columns.map(() => '?').join(', ')})`)
  return (row) => skipWrongTypes(() => void statement.run(...Object.values(row)))
}
