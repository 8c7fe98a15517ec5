import type { DatabaseSync } from 'node:sqlite'
import { blobEventTypes, blobsOf, type Event, type SessionId } from '@holdfast/protocol'
import { error, type Finding, warning } from '../../finding.ts'
import { searchedTypes } from '../../search/searched-event.ts'
import { faultOf } from '../../storage-fault.ts'
import { unlessDamaged } from '../damage/skip-damaged-pages.ts'
import { openForReading } from '../file/database-file.ts'
import { bodyText } from '../rows/compressed-body.ts'
import { searchCursorName } from '../rows/schema.ts'
import { searchedBody } from '../search/indexed-body.ts'
import { checkPages } from './check-pages.ts'

/** What SQLite itself finds wrong, and where its tables contradict each other. */
export function checkDatabase(path: string): readonly Finding[] {
  const database = openForReading(path)
  try {
    const wrong = checkPages(database, path)
    const others = [heads, orphans, names, (one: DatabaseSync) => search(one, path), uses]
    // What a damaged page keeps from being compared is told as that page.
    return [...wrong, ...others.flatMap((look) => (wrong.length > 0 ? readable(look, database) : look(database)))]
  } catch (cause) {
    return [error({ code: 'damaged_file', place: path, what: faultOf(cause, path).message })]
  } finally {
    database.close()
  }
}

const readable = (look: (database: DatabaseSync) => readonly Finding[], database: DatabaseSync): readonly Finding[] =>
  unlessDamaged(
    () => look(database),
    () => [],
  )

/** A head below the last record would make the next append fail; one above it is read as lost records. */
function heads(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id, head, (select max(seq) from record where record.sid = session.sid) as last from session
    where head < (select max(seq) from record where record.sid = session.sid)`)
  return rows.all().map((row) =>
    error({
      ...{ code: 'head', place: String(row['id']), canMend: true },
      what: `it is said to end at ${row['head']}, and has records up to ${row['last']}`,
    }),
  )
}

/** What a session shares with one that is not there is lost. */
function orphans(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id, base from session where (parent is null and base > 0) or parent not in (select sid from session)`)
  return rows.all().map((row) => {
    const what = `the session whose past it shares up to ${row['base']} is not there`
    return error({ code: 'lineage', place: String(row['id']), what })
  })
}

/** Columns that lists and lookups go by, against the row they were taken from. */
function names(database: DatabaseSync): readonly Finding[] {
  const rows = database.prepare(`
    select id from session where purged_at is null and json_valid(meta) and (
      json_extract(meta, '$.handle') is not handle or json_extract(meta, '$.key') is not key or
      json_extract(meta, '$.workspace') is not workspace or json_extract(meta, '$.pinned') is not pinned)`)
  return rows
    .all()
    .map((row) =>
      warning({ code: 'row', place: String(row['id']), what: 'what it is found by is not what its row says' }),
    )
}

/** Whether all that was said is in the index, as far as it says it has come. */
function search(database: DatabaseSync, path: string): readonly Finding[] {
  database.exec('begin') // of one moment, whoever writes meanwhile
  try {
    const cursor = Number(database.prepare('select pos from cursor where name = ?').get(searchCursorName)?.['pos'] ?? 0)
    const last = Number(database.prepare('select max(pos) as pos from record').get()?.['pos'] ?? 0)
    const said = (what: string) => [warning({ code: 'search', place: path, what })]
    if (cursor > last) return said(`it is said to be indexed up to ${cursor}, of ${last}`)
    const missing = countNotIndexed(database, cursor)
    return missing === 0 ? [] : said(`${missing} messages cannot be found by their words`)
  } finally {
    database.exec('commit')
  }
}

/** Walks along the records and the index side by side: neither is held in memory. */
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

/** What has none is not taken in. */
const hasText = (body: unknown): boolean => (searchedBody(body)?.text ?? '') !== ''

/** A blob whose use was not written down would be collected, though a record refers to it. */
function uses(database: DatabaseSync): readonly Finding[] {
  return missingUses(database).map(({ session, hash }) =>
    warning({ code: 'blob_use', place: `${session} ${hash}`, what: 'a file it refers to is not marked as used' }),
  )
}

export type MissingUse = {
  readonly session: SessionId
  readonly sid: number
  readonly seq: number
  readonly hash: string
}

export function missingUses(database: DatabaseSync): readonly MissingUse[] {
  const records = database.prepare(`
    select id, sid, seq, body from record join session using (sid)
    where type in (${blobEventTypes.map((type) => `'${type}'`).join(', ')})`)
  const use = database.prepare('select 1 from blob_use where hash = ? and sid = ? limit 1')
  const missing: MissingUse[] = []
  for (const row of records.iterate()) {
    const [sid, seq] = [Number(row['sid']), Number(row['seq'])]
    for (const hash of blobsIn(bodyText(row['body']))) {
      if (use.get(hash, sid) === undefined) missing.push({ session: String(row['id']) as SessionId, sid, seq, hash })
    }
  }
  return missing
}

/** A body that was damaged may be JSON and still no event. */
function blobsIn(body: string): readonly string[] {
  try {
    return blobsOf(JSON.parse(body) as Event)
  } catch {
    return []
  }
}
