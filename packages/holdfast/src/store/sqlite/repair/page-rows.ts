import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { checkColumns, decompressBody } from '../rows/columns.ts'
import { type PageRow, pageBytes, type ReadPage, readPageRows } from './table-pages.ts'

const sessionColumns = 17
const [headColumn, metaColumn, purgedColumn] = [6, 14, 16]
const recordColumns = 11
const [typeColumn, bodyColumn] = [4, 10]

const nodeColumns = 3

const isSession = ({ values }: PageRow): boolean =>
  values.length === sessionColumns && values[0] === null && /^ses_/.test(String(values[1]))
const isNode = ({ values }: PageRow): boolean =>
  values.length === nodeColumns &&
  values.every((value) => typeof value === 'string') &&
  /^node_/.test(String(values[0]))
export const isRecord = ({ values }: PageRow): boolean =>
  values.length === recordColumns &&
  values[0] === null &&
  typeof values[1] === 'number' &&
  typeof values[2] === 'number'

/** Adds the sessions and nodes of all pages of a damaged file, which no other page may lead to any more. */
export function addSessionsOfPages(path: string, copy: DatabaseSync): void {
  const isNewest = createIsNewest(path)
  const insertSession = createInsert(copy, 'insert or ignore into session', sessionColumns)
  const insertNode = copy.prepare('insert or ignore into node values (?, ?, ?)')
  for (const row of readRows(path)) {
    if (isSession(row) && isNewest(row)) insertSession(row)
    else if (isNode(row)) insertNode.run(...row.values)
  }
}

/**
 * Adds the records of all pages. Free pages keep old rows: a record is added only if its session is there, needs it, and
 * gives the same checksum. Such a record replaces a row that only a damaged page leads to.
 */
export function addRecordsOfPages(path: string, copy: DatabaseSync): void {
  const insertRecord = createInsert(copy, 'insert or replace into record', recordColumns)
  const isNeeded = createIsNeeded(copy)
  for (const row of readRows(path)) if (isRecord(row) && isNeeded(row)) insertRecord(row)
  // A session whose row was lost, or is an older one, ends where its records do.
  copy.exec(`update session set head = max(head, coalesce((select max(seq) from record where record.sid = session.sid), 0))
    where purged_at is null`)
}

/** Returns whether a page of the file has a row of a session or a record, as in no other file. */
export function hasOurRow(path: string): boolean {
  for (const row of readRows(path)) {
    if (isSession(row) && nameOf(row.values[metaColumn], 'id') === row.values[1]) return true
    if (isRecord(row) && nameOf(decompressBody(row.values[bodyColumn]), 'type') === row.values[typeColumn]) return true
  }
  return false
}

/** Returns a field of a JSON object, or null. */
function nameOf(json: unknown, field: string): unknown {
  try {
    const value: unknown = JSON.parse(String(json))
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(field) : null
  } catch {
    return null
  }
}

/** Runs `work` with a function that reads the pages of a file, and their number. */
export function* withPages<Value>(
  path: string,
  work: (readPage: ReadPage, pages: number) => Iterable<Value>,
): Generator<Value> {
  const file = openSync(path, 'r')
  try {
    const pages = Math.floor(fstatSync(file).size / pageBytes)
    const readPage: ReadPage = (number) => {
      if (number < 1 || number > pages) return null
      const page = Buffer.alloc(pageBytes)
      return readSync(file, page, 0, pageBytes, (number - 1) * pageBytes) === pageBytes ? page : null
    }
    yield* work(readPage, pages)
  } finally {
    closeSync(file)
  }
}

/** Reads the rows of all pages that are, or may have been, leaves of tables. */
export const readRows = (path: string): Generator<PageRow> =>
  withPages(path, function* (readPage, pages) {
    for (let page = 1; page <= pages; page++) yield* readPageRows(page, readPage)
  })

/** Of several rows of one session, a free page has the older ones. A purge is never undone; otherwise the head only grows. */
function createIsNewest(path: string): (row: PageRow) => boolean {
  const ageOf = ({ values }: PageRow): number =>
    values[purgedColumn] === null ? Number(values[headColumn]) : Number.MAX_SAFE_INTEGER
  const newest = new Map<number, number>()
  for (const row of readRows(path))
    if (isSession(row)) newest.set(row.rowid, Math.max(newest.get(row.rowid) ?? 0, ageOf(row)))
  return (row) => ageOf(row) === newest.get(row.rowid)
}

const wrongType = 3091 // SQLITE_CONSTRAINT_DATATYPE

function createInsert(copy: DatabaseSync, insert: string, columns: number): (row: PageRow) => void {
  const places = Array.from({ length: columns }, () => '?').join(', ')
  const statement = copy.prepare(`${insert} values (${places})`)
  return ({ rowid, values }) => skipWrongTypes(() => void statement.run(rowid, ...values.slice(1))) // the first column is the rowid
}

/** Runs an insert, and ignores a row whose damaged values do not fit the columns. */
export function skipWrongTypes(insert: () => void): void {
  try {
    insert()
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error && error.errcode === wrongType)) throw error
  }
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
