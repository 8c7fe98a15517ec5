import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { blobEventTypes, blobsOf, type Event, type SessionId } from '@holdfast/protocol'
import { error, type Finding, lstatIfThere, modeFindings, unfinishedFile, warning } from '../../finding.ts'
import { searchedTypes } from '../../search/searched-event.ts'
import { faultOf } from '../../storage-fault.ts'
import { unlessDamaged } from '../damage/skip-damaged-pages.ts'
import { openForReading } from '../file/database-file.ts'
import { decompressBody } from '../rows/compressed-body.ts'
import { searchCursorName } from '../rows/schema.ts'
import { decodeIndexedEvent } from '../search/indexed-event.ts'
import { checkPages } from './check-pages.ts'

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
  return findings
}

/** Reports what SQLite finds wrong, and where the tables contradict each other. */
export function checkDatabase(path: string): readonly Finding[] {
  using database = openForReading(path)
  try {
    const wrong = checkPages(database, path)
    const checks = [checkHeads, checkParents, checkNames, (one: DatabaseSync) => checkIndex(one, path), checkBlobUses]
    // A check that meets a damaged page reports nothing: the page is reported already.
    const others = checks.flatMap((check) =>
      wrong.length > 0 ? unlessDamaged([], () => check(database)) : check(database),
    )
    return [...wrong, ...others]
  } catch (cause) {
    return [error({ code: 'damaged_file', place: path, what: faultOf(cause, path).message })]
  }
}

/** A head below the last record would make the next append fail; one above it reads as lost records. */
function checkHeads(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id, head, (select max(seq) from record where record.sid = session.sid) as last from session
    where head < (select max(seq) from record where record.sid = session.sid)`)
  return rows.all().map((row) =>
    error({
      ...{ code: 'head', place: String(row['id']), canMend: true },
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
    return error({ code: 'lineage', place: String(row['id']), what })
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
      warning({ code: 'row', place: String(row['id']), what: 'its lookup columns do not match its metadata' }),
    )
}

/** Checks whether every message up to the cursor of the index is in the index. */
function checkIndex(database: DatabaseSync, path: string): readonly Finding[] {
  database.exec('begin') // one snapshot, even if another process writes
  try {
    const cursor = Number(database.prepare('select pos from cursor where name = ?').get(searchCursorName)?.['pos'] ?? 0)
    const last = Number(database.prepare('select max(pos) as pos from record').get()?.['pos'] ?? 0)
    const report = (what: string) => [warning({ code: 'search', place: path, what })]
    if (cursor > last) return report(`its cursor is ${cursor}, but the last record is ${last}`)
    const missing = countNotIndexed(database, cursor)
    return missing === 0 ? [] : report(`${missing} messages are not in the word index`)
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
    warning({ code: 'blob_use', place: `${session} ${hash}`, what: 'a file it refers to is not marked as used' }),
  )
}

export type MissingUse = {
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
