import type { DatabaseSync } from 'node:sqlite'
import type { SearchPage, SearchRequest } from '@holdfast/core/ports'
import type { MessageId, Meta } from '@holdfast/protocol'
import { orThrow } from '@holdfast/protocol/result'
import { createMatcher, scoreOf, snippetOf } from '../../search/match-text.ts'
import { parseQuery, type Query, type Term } from '../../search/query.ts'
import { type Candidate, decodeSearchCursor, type HitHeader, rankedMax, rankPage } from '../../search/ranked-page.ts'
import { messageSeq, roleOf } from '../../search/searched-event.ts'
import { checkRecord, type Row, recordColumns } from '../rows/columns.ts'
import { searchCursorName } from '../rows/schema.ts'
import { createToolFinder, decodeIndexedEvent, filterTokens, timeTokensBetween } from './indexed-event.ts'
import { createSearchScope, type SearchScope, type ShownSession } from './scope.ts'

/** The most rows a search reads, including those that match by words only, such as messages in the trash. */
const rowsReadMax = 50_000
/** The newest records that are not indexed yet, which a search reads one by one. */
const unindexedMax = 2000
const numbersPerPosition = 1

type Found = Candidate & { readonly pos: number; readonly sid: number; readonly shownSid: number }

/** Finds messages by the word index. */
export function createSearchReader(database: DatabaseSync): (request: SearchRequest) => SearchPage {
  const columns = 'record.pos, record.sid, record.seq, record.type, record.at'
  const indexed = database.prepare(`
    select ${columns} from search cross join record on record.pos = search.rowid
    where search match ? and search.rowid <= ? order by search.rowid desc`)
  // An append does not wait for the index: the newest records are matched by reading them.
  const unindexed = database.prepare(`
    select ${columns} from record
    where pos > coalesce((select pos from cursor where name = ?), 0) and pos <= ? order by pos desc limit ${unindexedMax}`)
  const skipped = database.prepare(`
    select 1 from record where pos > coalesce((select pos from cursor where name = ?), 0) and pos < ? limit 1`)
  const bodyAt = database.prepare('select body from record where pos = ?')
  const recordAt = database.prepare(`select ${recordColumns} from record where pos = ?`)
  const sessionBySid = database.prepare('select id, meta from session where sid = ?')
  const findTool = createToolFinder(database)
  const createScope = createSearchScope(database)

  /** A thousand candidates are scored for twenty hits, so this reads nothing that only the hits need, not even checksums. */
  function createCandidate(
    row: Row,
    shown: ShownSession,
    tool: string | undefined,
    query: Query,
    matches: Matches | null,
  ) {
    const [pos, sid] = [Number(row['pos']), Number(row['sid'])]
    const decoded = decodeIndexedEvent(bodyAt.get(pos)?.['body'])
    if (decoded === null) return null
    const { event, text } = decoded
    if (matches !== null && !matches(text)) return null
    if (tool !== undefined && findTool(sid, event) !== tool) return null
    const message = messageSeq(Number(row['seq']), event) as MessageId // the seq of a record that is a message
    const scored = { score: scoreOf(text, query), snippet: () => snippetOf(text, query) }
    return { position: [pos], pos, sid, shownSid: shown.sid, session: shown.session, message, ...scored }
  }

  function readHit({ pos, sid, shownSid, session, message }: Found): HitHeader | null {
    const [stored, holder, shown] = [recordAt.get(pos), sessionBySid.get(sid), sessionBySid.get(shownSid)]
    const record = stored && checkRecord(String(holder?.['id']), stored)
    const role = record === undefined || 'lost' in record ? null : roleOf(record.type)
    if (record === undefined || 'lost' in record || role === null) return null
    return { session, title: titleIn(String(shown?.['meta'])), message, role, at: record.at }
  }

  /**
   * Returns the rows to look at, newest first, and how to match those that no index has matched. Calls `onSkip` if there are
   * records between the newest ones and those that are indexed.
   */
  function* matchingRows(
    query: Query,
    expression: string,
    top: number,
    onSkip: () => void,
  ): Iterable<readonly [Row, Matches | null]> {
    const matches = createMatcher(query)
    let [count, lowest] = [0, 0]
    for (const row of unindexed.iterate(searchCursorName, top)) {
      count += 1
      lowest = Number(row['pos'])
      yield [row, matches]
    }
    if (count === unindexedMax && skipped.get(searchCursorName, lowest) !== undefined) onSkip()
    for (const row of indexed.iterate(expression, top)) yield [row, null]
  }

  /** Returns the newest matching messages, as many as are ranked. */
  function findCandidates(query: Query, expression: string, top: number, scope: SearchScope, request: SearchRequest) {
    const isWanted = createRowFilter(request)
    const found: Found[] = []
    const messages = new Set<string>()
    let [rowsRead, isIndexing] = [0, false]
    const onSkip = () => {
      isIndexing = true
    }
    for (const [row, matches] of matchingRows(query, expression, top, onSkip)) {
      rowsRead += 1
      if (rowsRead > rowsReadMax) break
      const shown = isWanted(row) ? scope.shownAs(Number(row['sid']), Number(row['seq'])) : null
      const candidate = shown === null ? null : createCandidate(row, shown, request.tool, query, matches)
      if (candidate === null) continue
      found.push(candidate)
      messages.add(`${candidate.session} ${candidate.message}`)
      if (messages.size >= rankedMax) break
    }
    return { found, isIndexing }
  }

  return (request) => {
    const query = orThrow(parseQuery(request.text))
    const cursor = orThrow(decodeSearchCursor(request.cursor, numbersPerPosition))
    const scope = createScope(request)
    const groups = [...scope.groups, ...filterGroups(request)]
    if (groups.some((tokens) => tokens.length === 0)) return { hits: [], next: null }
    const top = cursor?.top[0] ?? Number.MAX_SAFE_INTEGER
    const { found, isIndexing } = findCandidates(query, ftsExpression(query, groups), top, scope, request)
    const page = rankPage(found, { limit: request.limit, cursor, readHit })
    return isIndexing ? { ...page, isIndexing } : page
  }
}

type Matches = ReturnType<typeof createMatcher>

/** A damaged session row costs only the title. */
function titleIn(meta: string): string {
  try {
    return (JSON.parse(meta) as Meta).title
  } catch {
    return ''
  }
}

/** Returns the filters of a request as groups of tokens; a match has one token of each group. */
function filterGroups({ role, tool, since, until }: SearchRequest): readonly (readonly string[])[] {
  const groups = [
    role === undefined ? null : [filterTokens.role(role)],
    tool === undefined ? null : [filterTokens.tool(tool)],
    timeTokensBetween(toMs(since), toMs(until)),
  ]
  return groups.filter((tokens) => tokens !== null)
}

function createRowFilter(request: SearchRequest): (row: Row) => boolean {
  const [from, to] = [toMs(request.since), toMs(request.until)]
  return (row) => {
    const role = roleOf(String(row['type']))
    if (role === null || (request.role !== undefined && role !== request.role)) return false
    if (from === null && to === null) return true
    const at = Date.parse(String(row['at']))
    return (from === null || at >= from) && (to === null || at < to)
  }
}

const toMs = (at: string | undefined): number | null => (at === undefined ? null : Date.parse(at))

/** Writes a query as an FTS5 expression. A match also has one token of each group. Every word is quoted. */
const ftsExpression = (query: Query, groups: readonly (readonly string[])[]): string =>
  [...query.map(ftsTerm), ...groups.map((tokens) => `(${tokens.map(quote).join(' OR ')})`)].join(' AND ')

function ftsTerm({ words, isPrefix, isExact, parts }: Term): string {
  const anywhere = ftsPhrase(words, isPrefix)
  if (isExact) return `text : ${anywhere}`
  return parts === null ? anywhere : `(${anywhere} OR parts : ${ftsPhrase(parts, isPrefix)})`
}

const ftsPhrase = (words: readonly string[], isPrefix: boolean): string =>
  `${words.map(quote).join(' + ')}${isPrefix ? ' *' : ''}`

/** A word consists of letters, digits, marks and underscores, so it contains no quote. */
const quote = (word: string): string => `"${word}"`
