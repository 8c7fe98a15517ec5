import { setImmediate } from 'node:timers/promises'
import type { ReadRecord, SearchPage, SearchRequest } from '@holdfast/core/ports'
import type { MessageId, Seq, SessionId } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { createMatcher, scoreOf, snippetOf } from './match-text.ts'
import { parseQuery, type Query } from './query.ts'
import {
  type Candidate,
  comparePositions,
  createNewestFound,
  decodeSearchCursor,
  type HitHeader,
  rankedMax,
  rankPage,
  type SearchPosition,
} from './ranked-page.ts'
import { messageSeq, roleOf, searchedText } from './searched-event.ts'

/** A session to scan. It may be purged, with records that only its forks show. */
export type ScannedSession = {
  /** The id of the session. */
  readonly id: SessionId
  /** Counts sessions in the order of creation. */
  readonly order: number
  /** The session that a fork shares records with; null for any other. */
  readonly parent: SessionId | null
  /** The last seq that a fork shares with its parent; otherwise 0. */
  readonly base: Seq
  /** The seq of its last record. */
  readonly head: Seq
  /** How a hit shows it; null if the session is hidden. */
  readonly shown: { readonly title: string; readonly workspace: string } | null
}

/** A store as `scanSearch` reads it. */
export type ScannedStore = {
  /** The sessions to search. */
  readonly sessions: readonly ScannedSession[]
  /** Returns a bounded page of a session's own records, without its parents'. */
  ownRecords(session: SessionId, after: Seq, limit: number): Promise<readonly ReadRecord[]>
}

/** The records of one session, and the session that shows them. */
type RecordRange = {
  readonly holder: ScannedSession
  readonly upTo: Seq
  readonly shownAs: ScannedSession & { readonly shown: NonNullable<ScannedSession['shown']> }
}

const pageRecords = 200
const numbersPerPosition = 3

/** Searches without an index: reads all records in scope, page by page, and yields to other work in between. */
export async function scanSearch(store: ScannedStore, request: SearchRequest): Promise<Result<SearchPage>> {
  const query = parseQuery(request.text)
  if (!query.ok) return query
  const cursor = decodeSearchCursor(request.cursor, numbersPerPosition)
  if (!cursor.ok) return cursor
  const matches = createMatcher(query.value)
  const found = createNewestFound<Found>(rankedMax)
  const findTool = createToolFinder(store)

  for (const range of rangesToScan(store.sessions, request)) {
    for await (const record of readRecords(store, range)) {
      const candidate = await readMatchable(record, range, request, findTool)
      if (candidate === null || found.isTooOld(candidate.position)) continue
      const isBehindTop = cursor.value === null || comparePositions(candidate.position, cursor.value.top) <= 0
      if (isBehindTop && matches(candidate.text)) found.add(scoreMatch(candidate, query.value))
    }
  }
  const readHit = ({ position, score, snippet, ...hit }: Found): HitHeader => hit
  return ok(rankPage(found.all(), { limit: request.limit, cursor: cursor.value, readHit }))
}

/** Yields what to scan, each record once: shown in its own session, or in the oldest fork if that session is hidden. */
function* rangesToScan(sessions: readonly ScannedSession[], request: SearchRequest): Iterable<RecordRange> {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const scanned = new Map<SessionId, Seq>()
  for (const session of sessions.toSorted((left, right) => left.order - right.order)) {
    const { shown } = session
    if (shown === null || (request.session !== undefined && request.session !== session.id)) continue
    let upTo = session.head
    for (let holder: ScannedSession | undefined = session; holder !== undefined; ) {
      const isOwn = holder === session || holder.shown === null || request.session !== undefined
      if (!isOwn) break
      const scannedUpTo = holder === session ? 0 : (scanned.get(holder.id) ?? 0)
      if (upTo > scannedUpTo && (request.workspace === undefined || request.workspace === shown.workspace)) {
        yield { holder: { ...holder, base: Math.max(holder.base, scannedUpTo) }, upTo, shownAs: { ...session, shown } }
      }
      scanned.set(holder.id, Math.max(scannedUpTo, upTo))
      upTo = Math.min(upTo, holder.base)
      holder = holder.parent === null ? undefined : byId.get(holder.parent)
    }
  }
}

async function* readRecords(store: ScannedStore, { holder, upTo }: RecordRange): AsyncIterable<ReadRecord> {
  for (let after = holder.base; after < upTo; ) {
    const page = await store.ownRecords(holder.id, after, pageRecords)
    const last = page.at(-1)
    if (last === undefined) return
    for (const record of page) if (record.seq <= upTo) yield record
    after = last.seq
    await setImmediate()
  }
}

/** A record that may match, with its text. */
type Matchable = HitHeader & { readonly position: SearchPosition; readonly text: string }

/** A match with its snippet: the text, which may be long, can be freed. */
type Found = Candidate & HitHeader

function scoreMatch({ text, ...match }: Matchable, query: Query): Found {
  const snippet = copyText(snippetOf(text, query))
  return { ...match, score: scoreOf(text, query), snippet: () => snippet }
}

/** A slice keeps the whole string in memory; a copy does not. */
const copyText = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

type FindTool = (holder: SessionId, call: Seq) => Promise<string | null>

async function readMatchable(
  record: ReadRecord,
  { holder, shownAs }: RecordRange,
  request: SearchRequest,
  findTool: FindTool,
): Promise<Matchable | null> {
  if ('lost' in record) return null
  const { seq, at, event } = record
  const role = roleOf(event.type)
  const atMs = Date.parse(at)
  if (role === null || (request.role !== undefined && request.role !== role)) return null
  if (request.since !== undefined && atMs < Date.parse(request.since)) return null
  if (request.until !== undefined && atMs >= Date.parse(request.until)) return null
  if (request.tool !== undefined) {
    const requested = event.type === 'call.requested' ? event.tool : null
    const tool = event.type === 'call.settled' ? await findTool(holder.id, event.call) : requested
    if (tool !== request.tool) return null
  }
  const { id: session, shown } = shownAs
  const message = messageSeq(seq, event) as MessageId // the seq of a record that is a message
  const position = [atMs, holder.order, seq]
  return { position, session, title: shown.title, message, role, at, text: searchedText(event) }
}

/** Finds the tool of a call, which may have been requested before the fork. */
function createToolFinder({ sessions, ownRecords }: ScannedStore): FindTool {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const toolAt: FindTool = async (holder, call) => {
    const session = byId.get(holder)
    if (session === undefined) return null
    if (call <= session.base) return session.parent === null ? null : toolAt(session.parent, call)
    const [record] = await ownRecords(holder, call - 1, 1)
    return record !== undefined && !('lost' in record) && record.event.type === 'call.requested'
      ? record.event.tool
      : null
  }
  return toolAt
}
