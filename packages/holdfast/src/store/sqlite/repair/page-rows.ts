import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { checkColumns } from '../rows/columns.ts'
import { type PageRow, pageBytes, type ReadPage, readPageRows } from './table-pages.ts'

const sessionColumns = 17
const recordColumns = 11

const isSession = ({ values }: PageRow): boolean =>
  values.length === sessionColumns && values[0] === null && /^ses_/.test(String(values[1]))
const isRecord = ({ values }: PageRow): boolean =>
  values.length === recordColumns &&
  values[0] === null &&
  typeof values[1] === 'number' &&
  typeof values[2] === 'number'

/**
 * Adds the sessions and records of all pages of a damaged file, which no other page may lead to any more. Free pages keep
 * old rows: a record is added only if its session is there, needs it, and gives the same checksum.
 */
export function addRowsOfPages(path: string, copy: DatabaseSync): void {
  const file = openSync(path, 'r')
  try {
    const pages = Math.floor(fstatSync(file).size / pageBytes)
    const readPage: ReadPage = (number) => {
      if (number < 1 || number > pages) return null
      const page = Buffer.alloc(pageBytes)
      return readSync(file, page, 0, pageBytes, (number - 1) * pageBytes) === pageBytes ? page : null
    }
    copy.exec('begin immediate')
    const insertSession = createInsert(copy, 'session', sessionColumns)
    for (let page = 1; page <= pages; page++)
      for (const row of readPageRows(page, readPage)) if (isSession(row)) insertSession(row)
    const insertRecord = createInsert(copy, 'record', recordColumns)
    const isNeeded = createIsNeeded(copy)
    for (let page = 1; page <= pages; page++)
      for (const row of readPageRows(page, readPage)) if (isRecord(row) && isNeeded(row)) insertRecord(row)
    copy.exec('commit')
  } finally {
    closeSync(file)
  }
}

function createInsert(copy: DatabaseSync, table: string, columns: number): (row: PageRow) => void {
  const places = Array.from({ length: columns }, () => '?').join(', ')
  const statement = copy.prepare(`insert or ignore into ${table} values (${places})`)
  return ({ rowid, values }) => void statement.run(rowid, ...values.slice(1)) // the first column is the rowid
}

/** Of a purged session only the records that its forks share are needed. */
function createIsNeeded(copy: DatabaseSync): (row: PageRow) => boolean {
  const session = copy.prepare(`
    select id, base, iif(purged_at is null, 9007199254740991,
      (select coalesce(max(base), 0) from session fork where fork.parent = session.sid)) as upTo
    from session where sid = ?`)
  return ({ values: [, sid = null, ...columns] }) => {
    const found = session.get(Number(sid))
    const seq = Number(columns[0])
    if (found === undefined || seq <= Number(found['base']) || seq > Number(found['upTo'])) return false
    return !('lost' in checkColumns(String(found['id']), columns))
  }
}
