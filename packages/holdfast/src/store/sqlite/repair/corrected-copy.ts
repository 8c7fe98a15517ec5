import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { unlessDamaged } from '../files/damaged-pages.ts'
import { readHeaderBytes } from '../files/database-file.ts'
import { applicationId, schemaVersion, tables } from '../rows/schema.ts'
import { hasOurRow, withPages } from './page-rows.ts'
import { fileHeaderBytes, pageBytes, readFreePages } from './table-pages.ts'

/** The bytes that the header of every store has (sqlite.org/fileformat2.html), by their offset. */
const constants: readonly (readonly [offset: number, name: string, bytes: Buffer])[] = [
  [0, 'magic string', Buffer.from('SQLite format 3\0', 'latin1')],
  [16, 'page size', Buffer.from([pageBytes >> 8, pageBytes & 0xff])],
  [18, 'versions', Buffer.from([2, 2])],
  [20, 'page layout', Buffer.from([0, 64, 32, 32])],
  [44, 'schema format', Buffer.from([0, 0, 0, 4])],
  [48, 'cache size', Buffer.alloc(4)],
  [52, 'vacuum settings', Buffer.alloc(4)],
  [56, 'text encoding', Buffer.from([0, 0, 0, 1])],
  [64, 'vacuum settings', Buffer.alloc(4)],
  [68, 'application id', Buffer.from(applicationId.toString(16), 'hex')],
  [72, 'reserved bytes', Buffer.alloc(20)],
]
const at = { changes: 24, pages: 28, freePages: 32, userVersion: 60, applicationId: 68, validFor: 92 }
/** With more wrong bytes the file is another one, or its header is lost: then its rows tell whether it is a store. */
const wrongBytesMax = 8
/** How many pages a file may lack: a header that claims more is wrong itself. */
const pagesMissingMax = (pages: number): number => 2 * pages + 1000

/** Returns what is wrong with the header of a store file, in words; null if it is the header of another file. */
export function findHeaderProblems(path: string): readonly string[] | null {
  const header = readHeaderBytes(path)
  // Of a file that was cut to nothing, its log may still have pages.
  if (header.length < fileHeaderBytes) return existsSync(`${path}-wal`) ? [lostHeader] : null
  const wrong = constants.filter(([offset, , expected]) => countDifferent(header, offset, expected) > 0)
  const count = wrong.reduce((sum, [offset, , expected]) => sum + countDifferent(header, offset, expected), 0)
  if (count > wrongBytesMax) return isAnyDatabase(header) ? null : [lostHeader]
  return [...new Set(wrong.map(([, name]) => `the ${name} in its header is wrong`))]
}

const lostHeader = 'its header cannot be read'

/** Returns whether this is the header of a database of any program: then it is another file, not a damaged store. */
const isAnyDatabase = (header: Buffer): boolean =>
  header.toString('latin1', 0, 16) === 'SQLite format 3\0' && header.subarray(21, 24).equals(Buffer.from([64, 32, 32]))

const countDifferent = (header: Buffer, offset: number, expected: Buffer): number =>
  expected.reduce((sum, byte, index) => sum + (header[offset + index] === byte ? 0 : 1), 0)

/** Says what is wrong with a store file that SQLite cannot read. */
export function describeDamage(path: string): string {
  const problems = [...(findHeaderProblems(path) ?? [])]
  if (problems.includes(lostHeader)) return lostHeader
  const header = readHeaderBytes(path)
  const [pages, claimed] = [statSync(path).size / pageBytes, header.readUInt32BE(at.pages)]
  if (pages !== claimed) problems.push(`its header gives ${claimed} pages, but the file has ${Math.floor(pages)}`)
  const version = header.readUInt32BE(at.userVersion)
  if (!isKnown(version)) problems.push(`its header gives the unknown version ${version}`)
  return problems.length === 0 ? 'some of its pages are damaged' : problems.join('; ')
}

const isKnown = (version: number): boolean => version >= 1 && version <= schemaVersion
/** A number far above this version's is damaged, and not that of a newer store. */
const isNewer = (version: number): boolean => version > schemaVersion && version < schemaVersion + 1000

/**
 * Copies a store file and its log, corrects the header of the copy and fills missing pages with zeros. Returns false,
 * without a copy, if the file is no store or has tables of another version. A file without a header is a store if it has
 * the tables of one, or the row of a session or a record.
 */
export function writeCorrectedCopy(path: string, to: string): boolean {
  const problems = findHeaderProblems(path)
  const hasLostHeader = problems?.includes(lostHeader) === true
  // Its rows may be in its log only. Without a log, a file of another program is not even copied.
  if (problems === null || (hasLostHeader && !existsSync(`${path}-wal`) && !hasOurRow(path))) return false
  copyFileSync(path, to)
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${to}-wal`)
  const file = openSync(to, 'r+')
  try {
    correctHeader(file)
  } finally {
    closeSync(file)
  }
  const isStore = hasOurTables(to, readHeaderBytes(path)) // moves the log into the copy
  if (isStore || (hasLostHeader && hasOurRow(to))) return true
  removeCopy(to)
  return false
}

export function removeCopy(path: string): void {
  for (const left of [path, `${path}-wal`, `${path}-shm`]) rmSync(left, { force: true })
}

function correctHeader(file: number): void {
  const header = Buffer.alloc(fileHeaderBytes)
  readSync(file, header, 0, fileHeaderBytes, 0)
  for (const [offset, , expected] of constants) expected.copy(header, offset)
  const pages = Math.ceil(fstatSync(file).size / pageBytes)
  const claimed = header.readUInt32BE(at.pages)
  const count = claimed > pages && claimed <= pages + pagesMissingMax(pages) ? claimed : pages
  header.writeUInt32BE(count, at.pages)
  header.writeUInt32BE(header.readUInt32BE(at.changes), at.validFor)
  header.fill(0, at.freePages, at.freePages + 8) // the copy is only read
  header.writeUInt32BE(schemaVersion, at.userVersion)
  writeSync(file, header, 0, fileHeaderBytes, 0)
  ftruncateSync(file, count * pageBytes)
}

/**
 * Returns whether a copy has the tables of a store: exactly these if its version is unknown, as it may be a newer one. If
 * they cannot be read, the header of the original decides, or its rows.
 */
function hasOurTables(path: string, header: Buffer): boolean {
  knownTables ??= readOurTables()
  const known = knownTables
  using database = new DatabaseSync(path)
  const version = header.length < fileHeaderBytes ? 0 : header.readUInt32BE(at.userVersion)
  const isKnownVersion = isKnown(version)
  const found = unlessDamaged(null, () => readTables(database))
  if (found === null) {
    const isNamed = isKnownVersion && header.readInt32BE(at.applicationId) === applicationId
    return isNamed || (!isNewer(version) && hasOurRow(path))
  }
  if (!isKnownVersion) return known.size === found.size && [...known].every(([name, sql]) => found.get(name) === sql)
  return [...known.keys()].every((name) => laterTables.has(name) || found.has(name))
}

/** The tables that version 2 lacks. */
const laterTables: ReadonlySet<unknown> = new Set(['started_for', 'command_hash', 'token', 'spending', 'cap'])

/** Returns the pages of a corrected copy that keep removed rows. Null: unknown, as the header or their list is damaged. */
export function findFreePages(path: string, copy: string): ReadonlySet<number> | null {
  if (findHeaderProblems(path)?.includes(lostHeader) !== false) return null
  const found = withPages(copy, function* (readPage) {
    // The header of the copy is cleared, unless a newer one was in the log.
    const isNewer = readPage(1)?.readUInt32BE(at.freePages) !== 0
    const header = isNewer ? readPage(1) : readHeaderBytes(path)
    if (header !== null)
      yield readFreePages(header.readUInt32BE(at.freePages), header.readUInt32BE(at.freePages + 4), readPage)
  })
  return found.next().value ?? null
}

let knownTables: ReadonlyMap<unknown, unknown> | null = null

function readOurTables(): ReadonlyMap<unknown, unknown> {
  using database = new DatabaseSync(':memory:')
  database.exec(tables)
  return readTables(database)
}

const readTables = (database: DatabaseSync): Map<unknown, unknown> => {
  const rows = database.prepare(`select name, sql from sqlite_schema where type = 'table'`).all()
  return new Map(rows.map((row) => [row['name'], row['sql']]))
}
