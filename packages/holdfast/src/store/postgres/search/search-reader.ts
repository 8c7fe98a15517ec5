import type { Search, SearchHit, SearchRequest } from '@holdfast/core/ports'
import type { MessageId, Meta, SessionId } from '@holdfast/protocol'
import { ok } from '@holdfast/protocol/result'
import { createMatcher, scoreOf, snippetOf } from '../../search/match-text.ts'
import { parseQuery, type Query } from '../../search/query.ts'
import { type Candidate, decodeSearchCursor, type HitHeader, rankedMax, rankPage } from '../../search/ranked-page.ts'
import { messageSeq, roleOf } from '../../search/searched-event.ts'
import { attempt, type Database, type Sql, type SqlRow } from '../connect/connect.ts'
import { checkRecord } from '../read/columns.ts'
import { decodeIndexedEvent, findTools, type IndexedEvent } from './indexed-event.ts'
import { toTsquery } from './indexed-words.ts'
import { indexedStatement, unindexedMax, unindexedStatement } from './search-statements.ts'

const numbersPerPosition = 1
/** The most rows a search reads, including those that match in another order of words. */
const rowsReadMax = 50_000

type Found = Candidate & { readonly pos: number; readonly row: SqlRow }

/** Finds messages by the word index, and by reading the newest records that are not indexed yet. */
export const createSearch = ({ read }: Database): Search => ({
  search: (request) =>
    attempt(async () => {
      const query = parseQuery(request.text)
      if (!query.ok) return query
      const cursor = decodeSearchCursor(request.cursor, numbersPerPosition)
      if (!cursor.ok) return cursor
      const top = cursor.value?.top[0] ?? Number.MAX_SAFE_INTEGER
      const { found, isIndexing } = await findCandidates(read, query.value, request, top)
      const page = rankPage(found, { limit: request.limit, cursor: cursor.value, readHit })
      const titled = { ...page, hits: await addTitles(read, page.hits) }
      return ok(isIndexing ? { ...titled, isIndexing } : titled)
    }),
})

/** Returns the newest matching messages, as many as are ranked, newest first. */
async function findCandidates(read: Sql, query: Query, request: SearchRequest, top: number) {
  const found = new Map<number, Found>()
  const messages = new Set<string>()
  const add = (candidate: Found | null): void => {
    if (candidate === null) return
    found.set(candidate.pos, candidate)
    messages.add(`${candidate.session} ${candidate.message}`)
  }
  const matches = createMatcher(query)

  // First those without an index: one that is indexed meanwhile is found twice, and never missed.
  const waiting = unindexedStatement(request, top)
  const fresh = await read(waiting.statement, waiting.values)
  for (const { row, decoded } of await filterFresh(read, fresh, request))
    if (matches(decoded.text)) add(toCandidate(row, decoded, query))

  const { expression, isExact } = toTsquery(query)
  let [before, rowsRead] = [top + 1, 0]
  while (messages.size < rankedMax && rowsRead < rowsReadMax) {
    const { statement, values, rowsAtOnce } = indexedStatement(request, expression, before)
    const rows = await read(statement, values)
    for (const row of rows) {
      before = Number(row['pos'])
      const decoded = found.has(before) ? null : decodeIndexedEvent(row['body'])
      if (decoded !== null && (isExact || matches(decoded.text))) add(toCandidate(row, decoded, query))
    }
    rowsRead += rows.length
    if (rows.length < rowsAtOnce) break
  }
  const newestFirst = [...found.values()].toSorted((left, right) => right.pos - left.pos)
  return { found: newestFirst, isIndexing: fresh.length >= unindexedMax ? (true as const) : null }
}

/** Keeps the records of the wanted role, time and tool, which the index knows of the others. */
async function filterFresh(read: Sql, rows: readonly SqlRow[], { role, tool, since, until }: SearchRequest) {
  const wanted = rows.flatMap((row) => {
    const [its, at] = [roleOf(String(row['type'])), Date.parse(String(row['at']))]
    const isWanted =
      its !== null &&
      (role === undefined || its === role) &&
      (since === undefined || at >= Date.parse(since)) &&
      (until === undefined || at < Date.parse(until))
    const decoded = isWanted ? decodeIndexedEvent(row['body']) : null
    return decoded === null ? [] : [{ row, decoded, event: decoded.event }]
  })
  if (tool === undefined) return wanted
  const tools = await findTools(read, wanted)
  return wanted.filter((_, index) => tools[index] === tool)
}

function toCandidate(row: SqlRow, { event, text }: IndexedEvent, query: Query): Found {
  const pos = Number(row['pos'])
  return {
    pos,
    position: [pos],
    row,
    session: String(row['shown']) as SessionId, // the column holds nothing else
    message: messageSeq(Number(row['seq']), event) as MessageId, // the seq of a record that is a message
    score: scoreOf(text, query),
    snippet: () => snippetOf(text, query),
  }
}

/** Returns a hit without its title; null if the record is damaged. */
function readHit({ row, session, message }: Found): HitHeader | null {
  const record = checkRecord(String(row['holder']), row)
  const role = 'lost' in record ? null : roleOf(record.type)
  return 'lost' in record || role === null ? null : { session, title: '', message, role, at: record.at }
}

/** Adds the titles of the sessions as they are now. */
async function addTitles(read: Sql, hits: readonly SearchHit[]): Promise<readonly SearchHit[]> {
  const ids = [...new Set(hits.map(({ session }) => session))]
  const rows = ids.length === 0 ? [] : await read('select id, meta from @session where id = any($1)', [ids])
  const titles = new Map(rows.map((row) => [row['id'], titleIn(String(row['meta']))]))
  return hits.map((hit) => ({ ...hit, title: titles.get(hit.session) ?? '' }))
}

/** A damaged session row costs only the title. */
function titleIn(meta: string): string {
  try {
    return (JSON.parse(meta) as Meta).title
  } catch {
    return ''
  }
}
