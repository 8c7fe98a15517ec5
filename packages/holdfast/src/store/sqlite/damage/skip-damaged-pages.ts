import type { DatabaseSync } from 'node:sqlite'
import { sqliteCode } from '../../storage-fault.ts'

const [corrupt, noDatabase] = [11, 26]

/** Returns whether SQLite met a damaged page. */
function isDamage(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === corrupt || code === noDatabase
}

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
  try {
    work(from, upTo)
  } catch (error) {
    if (!isDamage(error)) throw error
    if (from === upTo) return
    const middle = Math.floor((from + upTo) / 2)
    runInHalves(from, middle, work)
    runInHalves(middle + 1, upTo, work)
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

/** Returns the last row number, from the first source that can be read. */
export const lastRecordOf = (database: DatabaseSync): number => firstAnswer(database, lastRecord)
export const lastSessionOf = (database: DatabaseSync): number => firstAnswer(database, lastSession)

function firstAnswer(database: DatabaseSync, questions: readonly string[]): number {
  for (const question of questions) {
    const last = unlessDamaged(null, () => database.prepare(question).get()?.['last']) ?? null
    if (last !== null) return Number(last)
  }
  return 0
}
