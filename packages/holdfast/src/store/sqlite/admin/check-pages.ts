import type { DatabaseSync } from 'node:sqlite'
import { error, type Finding, warning } from '../../finding.ts'
import { readDamagedSessions } from '../damage/salvage-sessions.ts'
import { isTableWhole, unlessDamaged } from '../damage/skip-damaged-pages.ts'
import { isOfIndex, isOfWords } from './page-state.ts'
import { oldestRebuilt } from './rebuild-database.ts'

const saidMax = 10

/** What no log tells, so that what was on a damaged page is lost. Which records were is told of their sessions. */
const lossOf: Readonly<Record<string, string>> = {
  trust: 'some of what workspaces allow without asking',
  draft: 'some of the answers that were not finished',
}

/** What SQLite finds wrong with a file; where it cannot walk through it, which tables have pages that are damaged. */
export function checkPages(database: DatabaseSync, path: string): readonly Finding[] {
  return unlessDamaged(
    () => integrity(database, path),
    () => damagedTables(database, path),
  )
}

function integrity(database: DatabaseSync, path: string): readonly Finding[] {
  const rows = database.prepare(`pragma integrity_check(${saidMax})`).all()
  const said = rows.map((row) => String(row['integrity_check'])).filter((what) => what !== 'ok')
  // Of pages it says their numbers, of the first few, and nobody knows what is on them.
  if (said.some((what) => !isOfWords(what) && !isOfIndex(what))) return damagedTables(database, path)
  return said.map((what) =>
    isOfWords(what)
      ? warning({ code: 'search', place: path, what })
      : error({ code: 'damaged_file', place: path, what, canMend: true }),
  )
}

function damagedTables(database: DatabaseSync, path: string): readonly Finding[] {
  const canMend = canRescue(database)
  const tables = database.prepare(`select name from sqlite_schema where type = 'table' order by rootpage`).all()
  const findings = tables.flatMap(({ name }) => {
    const table = String(name)
    if (isWhole(database, table)) return []
    if (/^search(_|$)/.test(table))
      return [warning({ code: 'search', place: path, what: 'pages of the index of words are damaged', canMend })]
    const isTable = !isTableWhole(database, table)
    const what = `pages of ${isTable ? '' : 'an index of '}the table ${table} are damaged${wayOut(canMend)}`
    const loss = isTable && canMend ? (lossOf[table] ?? null) : null
    return [error({ code: 'damaged_file', place: path, what, canMend, loss })]
  })
  if (findings.length > 0) return findings.filter(isFirstOfItsKind)
  return [error({ code: 'damaged_file', place: path, what: `pages of it are damaged${wayOut(canMend)}`, canMend })]
}

const isFirstOfItsKind = ({ what }: Finding, index: number, all: readonly Finding[]): boolean =>
  all.findIndex((other) => other.what === what) === index

const wayOut = (canMend: boolean): string =>
  canMend ? '' : '; holdfast migrate --to URL copies the sessions that are whole into another store'

/**
 * Records that are gone are read as lost. Which session they are of is told by its row or, where that is gone, by the
 * indexes of its table: one of both must be there.
 */
const canRescue = (database: DatabaseSync): boolean =>
  (isTableWhole(database, 'session') || readDamagedSessions(database) !== null) &&
  Number(database.prepare('pragma user_version').get()?.['user_version']) >= oldestRebuilt

const isWhole = (database: DatabaseSync, table: string): boolean =>
  unlessDamaged(
    () => database.prepare(`pragma integrity_check("${table}")`).get()?.['integrity_check'] === 'ok',
    () => false,
  )
