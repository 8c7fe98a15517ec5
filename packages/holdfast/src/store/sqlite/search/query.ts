import type { DatabaseSync } from 'node:sqlite'
import type { SearchRequest } from '@holdfast/core/ports'
import type { MessageId, Meta } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { parseQuery, type Query } from '../../search/query.ts'
import { type BareHit, type Candidate, type RankedPage, rankedMax, rankedPage } from '../../search/ranked-page.ts'
import { scoreOf } from '../../search/score.ts'
import { decodeSearchCursor } from '../../search/search-cursor.ts'
import { messageSeq, roleOf } from '../../search/searched-event.ts'
import { snippetOf } from '../../search/snippet.ts'
import { checked } from '../rows/record-reader.ts'
import { createCallTool } from './call-tool.ts'
import { facets, momentsWithin } from './facets.ts'
import { searchExpression } from './fts-expression.ts'
import { searchedBody } from './indexed-body.ts'
import { createSearchScope, type SearchScope, type Shown } from './scope.ts'

type Row = Record<string, unknown>

/** Of what matches by its words but not by its row, such as what lies in the trash, so much is passed over. */
const lookedAtMax = 50_000
const numbersOfPlace = 1

/** Finds messages by the word index. Prepared when first asked: a store of version 1 has none. */
export function createSearchReader(database: DatabaseSync) {
  let prepared: ReturnType<typeof prepare> | null = null
  return (request: SearchRequest): Result<RankedPage> => {
    prepared ??= prepare(database)
    return prepared(request)
  }
}

/** What the few that are shown are looked up by. */
type Found = Candidate & { readonly pos: number; readonly sid: number; readonly shownSid: number }

function prepare(database: DatabaseSync) {
  const matching = database.prepare(`
    select record.pos, record.sid, record.seq, record.type, record.at
    from search cross join record on record.pos = search.rowid
    where search match ? and search.rowid <= ? order by search.rowid desc`)
  const bodyAt = database.prepare('select body from record where pos = ?')
  const byPos = database.prepare(`
    select seq, at, type, v, client, command_id, ref, crc, body from record where pos = ?`)
  const sessionBySid = database.prepare('select id, meta from session where sid = ?')
  const toolOf = createCallTool(database)
  const scopeOf = createSearchScope(database)

  /** A thousand are judged for twenty that are shown: nothing is read here that only those need, checksums included. */
  function foundAt(row: Row, shown: Shown, { tool }: SearchRequest, query: Query): Found | null {
    const [pos, sid] = [Number(row['pos']), Number(row['sid'])]
    const searched = searchedBody(bodyAt.get(pos)?.['body'])
    if (searched === null) return null
    const { event, text } = searched
    if (tool !== undefined) {
      const own = event.type === 'call.settled' ? toolOf(sid, event.call) : null
      if ((event.type === 'call.requested' ? event.tool : own) !== tool) return null
    }
    const message = messageSeq(Number(row['seq']), event) as MessageId // a seq of a record that makes one
    const judged = { score: scoreOf(text, query), snippet: () => snippetOf(text, query) }
    return { place: [pos], pos, sid, shownSid: shown.sid, session: shown.session, message, ...judged }
  }

  function hitOf({ pos, sid, shownSid, session, message }: Found): BareHit | null {
    const [stored, holder, shown] = [byPos.get(pos), sessionBySid.get(sid), sessionBySid.get(shownSid)]
    const record = stored && checked(String(holder?.['id']), stored)
    const role = record === undefined || 'lost' in record ? null : roleOf(record.type)
    if (record === undefined || 'lost' in record || role === null) return null
    return { session, title: titleIn(String(shown?.['meta'])), message, role, at: record.at }
  }

  /** Newest first, as many as are ranked. */
  function candidates(query: Query, expression: string, top: number, scope: SearchScope, request: SearchRequest) {
    const isWanted = createRowFilter(request)
    const found: Found[] = []
    const messages = new Set<string>()
    let lookedAt = 0
    for (const row of matching.iterate(expression, top)) {
      lookedAt += 1
      if (lookedAt > lookedAtMax) break
      const shown = isWanted(row) ? scope.shownAs(Number(row['sid']), Number(row['seq'])) : null
      const candidate = shown === null ? null : foundAt(row, shown, request, query)
      if (candidate === null) continue
      found.push(candidate)
      messages.add(`${candidate.session} ${candidate.message}`)
      if (messages.size >= rankedMax) break
    }
    return found
  }

  return (request: SearchRequest): Result<RankedPage> => {
    const query = parseQuery(request.text)
    if (!query.ok) return query
    const cursor = decodeSearchCursor(request.cursor, numbersOfPlace)
    if (!cursor.ok) return cursor
    const scope = scopeOf(request)
    const groups = [...scope.groups, ...groupsOf(request)]
    if (groups.some((words) => words.length === 0)) return ok({ hits: [], next: null })
    const top = cursor.value?.top[0] ?? Number.MAX_SAFE_INTEGER
    const newestFirst = candidates(query.value, searchExpression(query.value, groups), top, scope, request)
    return ok(rankedPage(newestFirst, { limit: request.limit, cursor: cursor.value, hitOf }))
  }
}

/** A damaged row costs its session the title, not everyone the search. */
function titleIn(meta: string): string {
  try {
    return (JSON.parse(meta) as Meta).title // written by us
  } catch {
    return ''
  }
}

/** The words that what is asked for must have one of, beside those that are looked for. */
function groupsOf({ role, tool, since, until }: SearchRequest): readonly (readonly string[])[] {
  const moments = momentsWithin(msOf(since), msOf(until))
  return [
    ...(role === undefined ? [] : [[facets.role(role)]]),
    ...(tool === undefined ? [] : [[facets.tool(tool)]]),
    ...(moments === null ? [] : [moments]),
  ]
}

function createRowFilter({ role, since, until }: SearchRequest): (row: Row) => boolean {
  const [from, to] = [msOf(since), msOf(until)]
  return (row) => {
    if (role !== undefined && roleOf(String(row['type'])) !== role) return false
    if (from === null && to === null) return true
    const at = Date.parse(String(row['at']))
    return (from === null || at >= from) && (to === null || at < to)
  }
}

const msOf = (at: string | undefined): number | null => (at === undefined ? null : Date.parse(at))
