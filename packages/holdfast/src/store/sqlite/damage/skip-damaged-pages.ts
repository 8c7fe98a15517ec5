import type { DatabaseSync } from 'node:sqlite'
import { sqliteCode } from '../../storage-fault.ts'

const [corrupt, noDatabase] = [11, 26]

/** Whether a page that was read is not what it should be. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === corrupt || code === noDatabase
}

/** What `work` returns; what `otherwise` does where it met a damaged page or found nothing. */
export function unlessDamaged<Value, Other>(work: () => Value, otherwise: () => Other): NonNullable<Value> | Other {
  try {
    return work() ?? otherwise()
  } catch (error) {
    if (!isDamage(error)) throw error
    return otherwise()
  }
}

/** Whether every page of a table alone can be read, and of what is too long for one. */
export const isTableWhole = (database: DatabaseSync, table: string): boolean =>
  unlessDamaged(
    () => {
      for (const _ of database.prepare(`select * from "${table}" not indexed`).iterate());
      return true
    },
    () => false,
  )

/** So many rows at once: the work on them is done whole or not at all, and is kept in memory until it is. */
const rowsAtOnce = 1000

/** Does a work on every stretch of row numbers that can be read, and leaves out those on damaged pages. */
export function skipDamagedPages(first: number, last: number, work: (from: number, upTo: number) => void): void {
  for (let from = first; from <= last; from += rowsAtOnce) halving(from, Math.min(last, from + rowsAtOnce - 1), work)
}

function halving(from: number, upTo: number, work: (from: number, upTo: number) => void): void {
  try {
    work(from, upTo)
  } catch (error) {
    if (!isDamage(error)) throw error
    if (from === upTo) return
    const middle = Math.floor((from + upTo) / 2)
    halving(from, middle, work)
    halving(middle + 1, upTo, work)
  }
}

const lastRecord = [
  'select max(pos) as last from record not indexed',
  'select max(pos) as last from record indexed by sqlite_autoindex_record_1',
  'select max(pos) as last from cursor',
]
const lastSession = [
  'select max(sid) as last from session not indexed',
  `select seq as last from sqlite_sequence where name = 'session'`,
]

/** Up to which row number there are records, by the first of those who know it that can be read. */
export const lastRecordOf = (database: DatabaseSync): number => firstAnswer(database, lastRecord)
export const lastSessionOf = (database: DatabaseSync): number => firstAnswer(database, lastSession)

function firstAnswer(database: DatabaseSync, questions: readonly string[]): number {
  for (const question of questions) {
    const last = unlessDamaged(
      () => database.prepare(question).get()?.['last'],
      () => null,
    )
    if (last !== null) return Number(last)
  }
  return 0
}
