import { setImmediate } from 'node:timers/promises'
import type { ReadRecord, SearchRequest } from '@holdfast/core/ports'
import type { MessageId, Seq, SessionId } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import { createMatcher } from './matcher.ts'
import { createNewestFound } from './newest-found.ts'
import { parseQuery, type Query } from './query.ts'
import { type BareHit, type Candidate, type RankedPage, rankedMax, rankedPage } from './ranked-page.ts'
import { scoreOf } from './score.ts'
import { comparePlaces, decodeSearchCursor, type SearchPosition } from './search-cursor.ts'
import { messageSeq, roleOf, searchedText } from './searched-event.ts'
import { snippetOf } from './snippet.ts'

/** A session as a scan needs it, those that only their forks still show included. */
export type ScannedSession = {
  readonly id: SessionId
  /** Counts sessions in the order of their birth. */
  readonly order: number
  readonly parent: SessionId | null
  readonly base: Seq
  readonly head: Seq
  /** What it is shown as; null where nobody finds it. */
  readonly shown: { readonly title: string; readonly workspace: string } | null
}

export type ScannedStore = {
  readonly sessions: readonly ScannedSession[]
  /** The records of a session alone, without its lineage, a bounded page. */
  ownRecords(session: SessionId, after: Seq, limit: number): Promise<readonly ReadRecord[]>
}

/** The records of one session that are shown as another's, or its own. */
type Stretch = {
  readonly holder: ScannedSession
  readonly upTo: Seq
  readonly shownAs: ScannedSession & { readonly shown: NonNullable<ScannedSession['shown']> }
}

const pageRecords = 200
const numbersOfPlace = 3

/** Search without an index: reads everything it may look at, page by page, and lets others work in between. */
export async function scanSearch(store: ScannedStore, request: SearchRequest): Promise<Result<RankedPage>> {
  const query = parseQuery(request.text)
  if (!query.ok) return query
  const cursor = decodeSearchCursor(request.cursor, numbersOfPlace)
  if (!cursor.ok) return cursor
  const matches = createMatcher(query.value)
  const found = createNewestFound<Found>(rankedMax)
  const callTools = createCallTools(store)

  for (const stretch of stretchesOf(store.sessions, request)) {
    for await (const record of recordsOf(store, stretch)) {
      const candidate = await candidateOf(record, stretch, request, callTools)
      if (candidate === null || found.isTooOld(candidate.place)) continue
      const isBehindTop = cursor.value === null || comparePlaces(candidate.place, cursor.value.top) <= 0
      if (isBehindTop && matches(candidate.text)) found.add(judged(candidate, query.value))
    }
  }
  const hitOf = ({ place, score, snippet, ...hit }: Found): BareHit => hit
  return ok(rankedPage(found.all(), { limit: request.limit, cursor: cursor.value, hitOf }))
}

/** What is looked through, each record once: its own session's, or the eldest fork's where that is not found any more. */
function* stretchesOf(sessions: readonly ScannedSession[], request: SearchRequest): Iterable<Stretch> {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const taken = new Map<SessionId, Seq>()
  for (const session of sessions.toSorted((left, right) => left.order - right.order)) {
    const { shown } = session
    if (shown === null || (request.session !== undefined && request.session !== session.id)) continue
    let upTo = session.head
    for (let holder: ScannedSession | undefined = session; holder !== undefined; ) {
      const isOwn = holder === session || holder.shown === null || request.session !== undefined
      if (!isOwn) break
      const already = holder === session ? 0 : (taken.get(holder.id) ?? 0)
      if (upTo > already && (request.workspace === undefined || request.workspace === shown.workspace)) {
        yield { holder: { ...holder, base: Math.max(holder.base, already) }, upTo, shownAs: { ...session, shown } }
      }
      taken.set(holder.id, Math.max(already, upTo))
      upTo = Math.min(upTo, holder.base)
      holder = holder.parent === null ? undefined : byId.get(holder.parent)
    }
  }
}

async function* recordsOf(store: ScannedStore, { holder, upTo }: Stretch): AsyncIterable<ReadRecord> {
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
type Looked = BareHit & { readonly place: SearchPosition; readonly text: string }

/** What is judged at once is shown as it is: its text, which may be long, is let go. */
type Found = Candidate & BareHit

function judged({ text, ...looked }: Looked, query: Query): Found {
  const snippet = copied(snippetOf(text, query))
  return { ...looked, score: scoreOf(text, query), snippet: () => snippet }
}

/** A part of a string holds on to the whole of it; a copy does not. */
const copied = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

type CallTools = (holder: SessionId, call: Seq) => Promise<string | null>

async function candidateOf(
  record: ReadRecord,
  { holder, shownAs }: Stretch,
  request: SearchRequest,
  callTools: CallTools,
): Promise<Looked | null> {
  if ('lost' in record) return null
  const { seq, at, event } = record
  const role = roleOf(event.type)
  const atMs = Date.parse(at)
  if (role === null || (request.role !== undefined && request.role !== role)) return null
  if (request.since !== undefined && atMs < Date.parse(request.since)) return null
  if (request.until !== undefined && atMs >= Date.parse(request.until)) return null
  if (request.tool !== undefined) {
    const asked = event.type === 'call.requested' ? event.tool : null
    const tool = event.type === 'call.settled' ? await callTools(holder.id, event.call) : asked
    if (tool !== request.tool) return null
  }
  const { id: session, shown } = shownAs
  const message = messageSeq(seq, event) as MessageId // a seq of a record that makes one
  const place = [atMs, holder.order, seq]
  return { place, session, title: shown.title, message, role, at, text: searchedText(event) }
}

/** Tells which tool a call was of; it may have been asked for before the fork. */
function createCallTools({ sessions, ownRecords }: ScannedStore): CallTools {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const toolAt: CallTools = async (holder, call) => {
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
