import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { blobEventTypes, blobsOf, type Event, errorMessage, type SessionId } from '@holdfast/protocol'
import { error, type Finding, info, lstatIfThere, modeFindings, unfinishedFile, warning } from '../../finding.ts'
import { searchedTypes } from '../../search/searched-event.ts'
import { faultOf } from '../../storage-fault.ts'
import { isTableReadable, unlessDamaged } from '../files/damaged-pages.ts'
import { listSavedCopies, openForReading } from '../files/database-file.ts'
import { findHeaderProblems } from '../repair/corrected-copy.ts'
import { findSavedRecords } from '../repair/recovered-copy.ts'
import { decompressBody } from '../rows/columns.ts'
import { searchCursorName } from '../rows/schema.ts'
import { decodeIndexedEvent } from '../search/indexed-event.ts'
import { oldestRebuilt } from './copy-database.ts'

/** A store that is being created, or the copy of one that is being upgraded. */
const draftSuffix = /^(\.v\d+-backup)?\.new-/

/** Checks the modes of the store file and of SQLite's files beside it, and finds unfinished files. */
export async function checkFiles(path: string): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const mode = (await lstatIfThere(path))?.mode
  findings.push(...(await modeFindings(path)))
  for (const file of [`${path}-wal`, `${path}-shm`]) {
    // SQLite gives them the mode of the main file, which is reported already.
    const beside = await lstatIfThere(file)
    if (beside !== null && beside.mode !== mode) findings.push(...(await modeFindings(file)))
  }
  const name = basename(path)
  for (const other of await readdir(dirname(path))) {
    if (other.startsWith(name) && draftSuffix.test(other.slice(name.length)))
      findings.push(unfinishedFile(join(dirname(path), other)))
  }
  for (const saved of listSavedCopies(path)) findings.push(...checkSavedCopy(path, saved))
  return findings
}

/** Reports what only a copy has that was saved when another program changed the files of the open store. */
function checkSavedCopy(path: string, saved: string): readonly Finding[] {
  const what = 'a copy that was saved when another program moved, removed, replaced or truncated the store'
  try {
    const { sessions, records, conflicts } = findSavedRecords(path, saved)
    const only = `${what}; records that are only there: ${records}, of sessions: ${sessions.length}`
    const isMissing = sessions.length > 0
    const apart = `${what}; these sessions went on without it, or their names are taken: ${conflicts.join(', ')}. To get them, move it to another place and open it there with --store`
    const spare = `${what}; the store has all its records`
    return [
      ...(isMissing ? [error({ code: 'saved_copy', subject: saved, what: only, canRepair: true })] : []),
      ...(conflicts.length > 0 && !isMissing ? [error({ code: 'saved_copy', subject: saved, what: apart })] : []),
      ...(conflicts.length === 0 && !isMissing
        ? [info({ code: 'kept_aside', subject: saved, what: spare, canRepair: true })]
        : []),
    ]
  } catch (cause) {
    const why = `${what}; it could not be compared with the store. ${errorMessage(cause)}`
    return [error({ code: 'saved_copy', subject: saved, what: why })]
  }
}

/** Reports what SQLite finds wrong, and where the tables contradict each other. */
export function checkDatabase(path: string): readonly Finding[] {
  using database = openForReading(path)
  try {
    const wrong = [...checkHeader(path), ...checkPages(database, path)]
    const checks = [checkHeads, checkParents, checkNames, (one: DatabaseSync) => checkIndex(one, path), checkBlobUses]
    // A check that meets a damaged page reports nothing: the page is reported already.
    const others = checks.flatMap((check) =>
      wrong.length > 0 ? unlessDamaged([], () => check(database)) : check(database),
    )
    return [...wrong, ...others]
  } catch (cause) {
    return [error({ code: 'damaged_file', subject: path, what: faultOf(cause, path).message })]
  }
}

/** SQLite does not use all of the header, and its own check does not look at it. */
function checkHeader(path: string): readonly Finding[] {
  const problems = findHeaderProblems(path) ?? []
  return problems.map((what) => error({ code: 'damaged_file', subject: path, what, canRepair: true }))
}

/** A head below the last record would make the next append fail; one above it reads as lost records. */
function checkHeads(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id, head, (select max(seq) from record where record.sid = session.sid) as last from session
    where head < (select max(seq) from record where record.sid = session.sid)`)
  return rows.all().map((row) =>
    error({
      code: 'head',
      subject: String(row['id']),
      canRepair: true,
      what: `its head is ${row['head']}, but it has records up to ${row['last']}`,
    }),
  )
}

/** The records that a session shares with a missing parent are lost. */
function checkParents(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id, base from session where (parent is null and base > 0) or parent not in (select sid from session)`)
  return rows.all().map((row) => {
    const what = `the session it was forked from, up to seq ${row['base']}, is missing`
    return error({ code: 'lineage', subject: String(row['id']), what })
  })
}

/** Compares the columns that lists and lookups use with the metadata they come from. */
function checkNames(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id from session where purged_at is null and json_valid(meta) and (
      json_extract(meta, '$.handle') is not handle or json_extract(meta, '$.key') is not key or
      json_extract(meta, '$.workspace') is not workspace or json_extract(meta, '$.pinned') is not pinned)`)
  return rows
    .all()
    .map((row) =>
      warning({ code: 'row', subject: String(row['id']), what: 'its lookup columns do not match its metadata' }),
    )
}

/** Checks whether every message up to the cursor of the index is in the index. */
function checkIndex(database: DatabaseSync, path: string): readonly Finding[] {
  database.exec('begin') // one snapshot, even if another process writes
  try {
    const cursor = Number(database.prepare('select pos from cursor where name = ?').get(searchCursorName)?.['pos'] ?? 0)
    const last = Number(database.prepare('select max(pos) as pos from record').get()?.['pos'] ?? 0)
    const report = (what: string) => [warning({ code: 'search', subject: path, what })]
    if (cursor > last) return report(`its cursor is ${cursor}, but the last record is ${last}`)
    const missing = countNotIndexed(database, cursor)
    return missing === 0 ? [] : report(`messages that are not in the word index: ${missing}`)
  } finally {
    database.exec('commit')
  }
}

/** Reads the records and the index side by side, so that neither is held in memory. */
function countNotIndexed(database: DatabaseSync, upTo: number): number {
  const types = searchedTypes.map((type) => `'${type}'`).join(', ')
  const records = database.prepare(`
    select pos, body from record
    where type in (${types}) and pos <= ? and exists (select 1 from session where session.sid = record.sid)
    order by pos`)
  const indexed = database.prepare('select id from search_docsize order by id').iterate()
  let [missing, at] = [0, indexed.next()]
  for (const row of records.iterate(upTo)) {
    const pos = Number(row['pos'])
    while (at.done !== true && Number(at.value['id']) < pos) at = indexed.next()
    const isIndexed = at.done !== true && Number(at.value['id']) === pos
    if (!isIndexed && hasText(row['body'])) missing += 1
  }
  return missing
}

/** A message without text is not indexed. */
const hasText = (body: unknown): boolean => (decodeIndexedEvent(body)?.text ?? '') !== ''

/** A blob that is not marked as used would be removed, although a record refers to it. */
function checkBlobUses(database: DatabaseSync): readonly Finding[] {
  return findMissingUses(database).map(({ session, hash }) =>
    warning({ code: 'blob_use', subject: `${session} ${hash}`, what: 'a file it refers to is not marked as used' }),
  )
}

type MissingUse = {
  readonly session: SessionId
  readonly sid: number
  readonly seq: number
  readonly hash: string
}

export function findMissingUses(database: DatabaseSync): readonly MissingUse[] {
  const records = database.prepare(`
    select id, sid, seq, body from record join session using (sid)
    where type in (${blobEventTypes.map((type) => `'${type}'`).join(', ')})`)
  const use = database.prepare('select 1 from blob_use where hash = ? and sid = ? limit 1')
  const missing: MissingUse[] = []
  for (const row of records.iterate()) {
    const [sid, seq] = [Number(row['sid']), Number(row['seq'])]
    for (const hash of blobsIn(decompressBody(row['body']))) {
      if (use.get(hash, sid) === undefined) missing.push({ session: String(row['id']) as SessionId, sid, seq, hash })
    }
  }
  return missing
}

/** A damaged body may be JSON and still no event. */
function blobsIn(body: string): readonly string[] {
  try {
    return blobsOf(JSON.parse(body) as Event)
  } catch {
    return []
  }
}

const checkMessagesMax = 10

/** The data of a table that no log contains. Lost records are reported with their sessions. */
export const lossOf: Readonly<Record<string, string>> = {
  trust: 'some of what workspaces allow without asking',
  token: 'some of the tokens that let clients in',
  spending: 'some of what was spent, which caps count',
  cap: 'some of the caps on spending',
  draft: 'some of the answers that were not finished',
}

/** Reports what SQLite finds wrong with a file or, if it cannot read it all, which tables have damaged pages. */
function checkPages(database: DatabaseSync, path: string): readonly Finding[] {
  return unlessDamaged(null, () => checkIntegrity(database, path)) ?? findDamagedTables(database, path)
}

function checkIntegrity(database: DatabaseSync, path: string): readonly Finding[] {
  const rows = database.prepare(`pragma integrity_check(${checkMessagesMax})`).all()
  const messages = rows.map((row) => String(row['integrity_check'])).filter((what) => what !== 'ok')
  // SQLite gives only the numbers of the first few pages, not what they contain.
  if (messages.some((what) => !isAboutWords(what) && !isAboutIndex(what))) return findDamagedTables(database, path)
  return messages.map((what) =>
    isAboutWords(what)
      ? warning({ code: 'search', subject: path, what })
      : error({ code: 'damaged_file', subject: path, what, canRepair: true }),
  )
}

function findDamagedTables(database: DatabaseSync, path: string): readonly Finding[] {
  const canRepair = canRebuild(database)
  const tables = database.prepare(`select name from sqlite_schema where type = 'table' order by rootpage`).all()
  const findings = tables.flatMap(({ name }) => {
    const table = String(name)
    if (isIntact(database, table)) return []
    if (/^search(_|$)/.test(table))
      return [warning({ code: 'search', subject: path, what: 'pages of the word index are damaged', canRepair })]
    const isTableDamaged = !isTableReadable(database, table)
    const what = `pages of ${isTableDamaged ? '' : 'an index of '}the table ${table} are damaged${adviceFor(canRepair)}`
    const loss = isTableDamaged && canRepair ? (lossOf[table] ?? null) : null
    return [error({ code: 'damaged_file', subject: path, what, canRepair, loss })]
  })
  if (findings.length > 0) return findings.filter(isFirstWithText)
  return [
    error({
      code: 'damaged_file',
      subject: path,
      what: `some of its pages are damaged${adviceFor(canRepair)}`,
      canRepair,
    }),
  ]
}

const isFirstWithText = ({ what }: Finding, index: number, all: readonly Finding[]): boolean =>
  all.findIndex((other) => other.what === what) === index

const adviceFor = (canRepair: boolean): string =>
  canRepair ? '' : '. Run holdfast migrate --to URL to copy the intact sessions to another store'

/** Returns whether the rows of the file fit the tables of this version. */
export const canRebuild = (database: DatabaseSync): boolean =>
  Number(database.prepare('pragma user_version').get()?.['user_version']) >= oldestRebuilt

const isIntact = (database: DatabaseSync, table: string): boolean =>
  unlessDamaged(false, () => database.prepare(`pragma integrity_check("${table}")`).get()?.['integrity_check'] === 'ok')

const repairMessagesMax = 1000

/** Returns whether SQLite finds nothing wrong, apart from the word index. */
export function areTablesIntact(database: DatabaseSync): boolean {
  const messages = unlessDamaged(null, () => database.prepare(`pragma integrity_check(${repairMessagesMax})`).all())
  return (
    messages?.map((row) => String(row['integrity_check'])).every((what) => what === 'ok' || isAboutWords(what)) ?? false
  )
}

const isAboutWords = (message: string): boolean => /fts5/i.test(message)
/** An index with missing or extra rows; not one with unreadable pages. */
const isAboutIndex = (message: string): boolean => /\bindex\b/.test(message) && !/\b(tree|page) \d/i.test(message)
