import type { DatabaseSync } from 'node:sqlite'
import { error, type Finding, warning } from '../../finding.ts'
import { readDamagedSessions } from '../damage/recover-sessions.ts'
import { isTableReadable, unlessDamaged } from '../damage/skip-damaged-pages.ts'
import { openForReading, openForWriting } from '../file/database-file.ts'
import { oldestRebuilt } from './rebuild-database.ts'

const checkMessagesMax = 10

/** The data of a table that no log contains. Lost records are reported with their sessions. */
const lossOf: Readonly<Record<string, string>> = {
  trust: 'some of what workspaces allow without asking',
  draft: 'some of the answers that were not finished',
}

/** Reports what SQLite finds wrong with a file or, if it cannot read it all, which tables have damaged pages. */
export function checkPages(database: DatabaseSync, path: string): readonly Finding[] {
  return unlessDamaged(null, () => checkIntegrity(database, path)) ?? findDamagedTables(database, path)
}

function checkIntegrity(database: DatabaseSync, path: string): readonly Finding[] {
  const rows = database.prepare(`pragma integrity_check(${checkMessagesMax})`).all()
  const messages = rows.map((row) => String(row['integrity_check'])).filter((what) => what !== 'ok')
  // SQLite gives only the numbers of the first few pages, not what they contain.
  if (messages.some((what) => !isAboutWords(what) && !isAboutIndex(what))) return findDamagedTables(database, path)
  return messages.map((what) =>
    isAboutWords(what)
      ? warning({ code: 'search', place: path, what })
      : error({ code: 'damaged_file', place: path, what, canMend: true }),
  )
}

function findDamagedTables(database: DatabaseSync, path: string): readonly Finding[] {
  const canMend = canRebuild(database)
  const tables = database.prepare(`select name from sqlite_schema where type = 'table' order by rootpage`).all()
  const findings = tables.flatMap(({ name }) => {
    const table = String(name)
    if (isIntact(database, table)) return []
    if (/^search(_|$)/.test(table))
      return [warning({ code: 'search', place: path, what: 'pages of the word index are damaged', canMend })]
    const isTableDamaged = !isTableReadable(database, table)
    const what = `pages of ${isTableDamaged ? '' : 'an index of '}the table ${table} are damaged${adviceFor(canMend)}`
    const loss = isTableDamaged && canMend ? (lossOf[table] ?? null) : null
    return [error({ code: 'damaged_file', place: path, what, canMend, loss })]
  })
  if (findings.length > 0) return findings.filter(isFirstWithText)
  return [
    error({ code: 'damaged_file', place: path, what: `some of its pages are damaged${adviceFor(canMend)}`, canMend }),
  ]
}

const isFirstWithText = ({ what }: Finding, index: number, all: readonly Finding[]): boolean =>
  all.findIndex((other) => other.what === what) === index

const adviceFor = (canMend: boolean): string =>
  canMend ? '' : '. Run holdfast migrate --to URL to copy the intact sessions to another store'

/** A rebuild needs the session of each record: from its row or, if that is damaged, from the indexes of the table. */
const canRebuild = (database: DatabaseSync): boolean =>
  (isTableReadable(database, 'session') || readDamagedSessions(database) !== null) &&
  Number(database.prepare('pragma user_version').get()?.['user_version']) >= oldestRebuilt

const isIntact = (database: DatabaseSync, table: string): boolean =>
  unlessDamaged(false, () => database.prepare(`pragma integrity_check("${table}")`).get()?.['integrity_check'] === 'ok')

const repairMessagesMax = 1000

/** `stale_index`: all pages can be read, and SQLite can rebuild the index. `damaged`: some pages cannot be read. */
export type PageState = 'whole' | 'stale_index' | 'damaged'

/** Returns the state of the file, without its word index, which a repair rebuilds in any case. */
export function readPageState(path: string): PageState {
  using database = openForReading(path)
  const messages = unlessDamaged(null, () => database.prepare(`pragma integrity_check(${repairMessagesMax})`).all())
  if (messages === null) return 'damaged'
  const problems = messages
    .map((row) => String(row['integrity_check']))
    .filter((what) => what !== 'ok' && !isAboutWords(what))
  if (problems.length === 0) return 'whole'
  return problems.every(isAboutIndex) ? 'stale_index' : 'damaged'
}

const isAboutWords = (message: string): boolean => /fts5/i.test(message)
/** An index with missing or extra rows; not one with unreadable pages. */
const isAboutIndex = (message: string): boolean => /\bindex\b/.test(message) && !/\b(tree|page) \d/i.test(message)

export function reindex(path: string): void {
  using database = openForWriting(path)
  database.exec('reindex')
}
