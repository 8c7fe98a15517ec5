import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { checkColumns } from '../rows/columns.ts'
import { type PageRow, pageBytes, type ReadPage, readPageRows } from './table-pages.ts'

const sessionColumns = 17
const [headColumn, metaColumn, purgedColumn] = [6, 14, 16]
const recordColumns = 11

const nodeColumns = 3

const isSession = ({ values }: PageRow): boolean =>
  values.length === sessionColumns && values[0] === null && /^ses_/.test(String(values[1]))
const isNode = ({ values }: PageRow): boolean =>
  values.length === nodeColumns &&
  values.every((value) => typeof value === 'string') &&
  /^node_/.test(String(values[0]))
const isRecord = ({ values }: PageRow): boolean =>
  values.length === recordColumns &&
  values[0] === null &&
  typeof values[1] === 'number' &&
  typeof values[2] === 'number'

/**
 * Adds the sessions, records and nodes of all pages of a damaged file, which no other page may lead to any more. Free pages
 * keep old rows: a record is added only if its session is there, needs it, and gives the same checksum.
 */
export function addRowsOfPages(path: string, copy: DatabaseSync): void {
  copy.exec('begin immediate')
  const isNewest = createIsNewest(path)
  const insertSession = createInsert(copy, 'session', sessionColumns)
  const insertNode = copy.prepare('insert or ignore into node values (?, ?, ?)')
  for (const row of readRows(path)) {
    if (isSession(row) && isNewest(row)) insertSession(row)
    else if (isNode(row)) insertNode.run(...row.values)
  }
  const insertRecord = createInsert(copy, 'record', recordColumns)
  const isNeeded = createIsNeeded(copy)
  for (const row of readRows(path)) if (isRecord(row) && isNeeded(row)) insertRecord(row)
  copy.exec('commit')
}

/** Returns whether a page of the file has a session: its id and handle are in its metadata too, as in no other file. */
export function hasSessionRow(path: string): boolean {
  for (const row of readRows(path)) if (isSession(row) && isNamedByMeta(row)) return true
  return false
}

function isNamedByMeta({ values }: PageRow): boolean {
  try {
    const meta: unknown = JSON.parse(String(values[metaColumn]))
    return typeof meta === 'object' && meta !== null && 'id' in meta && meta.id === values[1]
  } catch {
    return false
  }
}

/** Reads the rows of all pages that are, or may have been, leaves of tables. */
function* readRows(path: string): Generator<PageRow> {
  const file = openSync(path, 'r')
  try {
    const pages = Math.floor(fstatSync(file).size / pageBytes)
    const readPage: ReadPage = (number) => {
      if (number < 1 || number > pages) return null
      const page = Buffer.alloc(pageBytes)
      return readSync(file, page, 0, pageBytes, (number - 1) * pageBytes) === pageBytes ? page : null
    }
    for (let page = 1; page <= pages; page++) yield* readPageRows(page, readPage)
  } finally {
    closeSync(file)
  }
}

/** Of several rows of one session, a free page has the older ones. A purge is never undone; otherwise the head only grows. */
function createIsNewest(path: string): (row: PageRow) => boolean {
  const ageOf = ({ values }: PageRow): number =>
    values[purgedColumn] === null ? Number(values[headColumn]) : Number.MAX_SAFE_INTEGER
  const newest = new Map<number, number>()
  for (const row of readRows(path))
    if (isSession(row)) newest.set(row.rowid, Math.max(newest.get(row.rowid) ?? 0, ageOf(row)))
  return (row) => ageOf(row) === newest.get(row.rowid)
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
