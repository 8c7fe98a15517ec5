import {
  type Fault,
  type ListOptions,
  type Meta,
  newsSession,
  type Result,
  type SessionId,
  type SessionList,
  type SessionNews,
} from '@holdfast/protocol'
import { isInList, type ListFilter, listOptionsOf } from './list-filter.ts'

const pageSize = 100
/** More pages are not kept: those far away are dropped, and loaded again by their cursor. */
const pagesMax = 20

/** Rows that were loaded together. `cursor` is where they begin. */
type Page = { readonly cursor: string | undefined; readonly rows: readonly Meta[] }

/** What is loaded of the list, in its order. */
export type LoadedSessions = {
  readonly sessions: readonly Meta[]
  readonly isLoaded: boolean
  /** Whether there is more below, and whether pages above were dropped. */
  readonly hasMore: boolean
  readonly hasEarlier: boolean
  /** Why the last load failed; what was loaded before is still shown. */
  readonly fault: Fault | null
}

export const nothingLoaded: LoadedSessions = {
  sessions: [],
  isLoaded: false,
  hasMore: false,
  hasEarlier: false,
  fault: null,
}

export type SessionPagesDeps = {
  readonly list: (options: ListOptions) => Promise<Result<SessionList>>
  /** Reads one row. Refused if the session is gone. */
  readonly look: (session: string) => Promise<Result<Meta>>
  readonly onChange: (loaded: LoadedSessions) => void
}

export type SessionPages = ReturnType<typeof createSessionPages>

/**
 * The part of the list that is loaded: pages of 100, in a window that moves over a list of any length. News changes rows
 * in place; nothing is loaded again for it.
 */
export function createSessionPages({ list, look, onChange }: SessionPagesDeps, filter: ListFilter) {
  const options = listOptionsOf(filter)
  let pages: readonly Page[] = []
  /** Where the dropped pages above begin, the nearest last. */
  let above: readonly (string | undefined)[] = []
  let next: string | null = null
  let isLoaded = false
  let fault: Fault | null = null
  let isClosed = false
  let loading: Promise<void> | null = null
  const looking = new Set<SessionId>()
  // News that arrives during a load may be newer than its answer, so it is applied again.
  let meanwhile: SessionNews[] | null = null

  const changed = () => {
    if (isClosed) return
    const sessions = pages.flatMap(({ rows }) => rows)
    onChange({ sessions, isLoaded, hasMore: next !== null, hasEarlier: above.length > 0, fault })
  }
  const read = (cursor: string | undefined) => list({ ...options, limit: pageSize, cursor })

  /** Runs one load after the other. */
  const inTurn = (work: () => Promise<Fault | null>): Promise<void> => {
    meanwhile ??= []
    const run = async () => {
      if (isClosed) return
      meanwhile ??= []
      fault = await work()
      isLoaded = true
      const missed = meanwhile ?? []
      meanwhile = null
      for (const news of missed) patch(news)
      changed()
    }
    const mine = (loading ?? Promise.resolve()).then(run).finally(() => {
      if (loading === mine) loading = null
    })
    loading = mine
    return mine
  }

  const loadMore = async (): Promise<Fault | null> => {
    const cursor = next
    if (cursor === null) return fault
    const answer = await read(cursor)
    if (!answer.ok) return answer.fault
    pages = [...without(pages, answer.value.sessions), { cursor, rows: answer.value.sessions }]
    next = answer.value.next
    while (pages.length > pagesMax) {
      above = [...above, pages[0]?.cursor]
      pages = pages.slice(1)
    }
    return null
  }
  const loadEarlier = async (): Promise<Fault | null> => {
    if (above.length === 0) return fault
    const cursor = above.at(-1)
    const answer = await read(cursor)
    if (!answer.ok) return answer.fault
    pages = [{ cursor, rows: answer.value.sessions }, ...without(pages, answer.value.sessions)]
    above = above.slice(0, -1)
    while (pages.length > pagesMax) {
      next = pages.at(-1)?.cursor ?? null
      pages = pages.slice(0, -1)
    }
    return null
  }
  /** Loads all pages again that are loaded: news may have been missed. */
  const reload = async (): Promise<Fault | null> => {
    const fresh: Page[] = []
    let from: string | null | undefined = pages[0]?.cursor
    do {
      const answer = await read(from)
      if (!answer.ok) return answer.fault
      fresh.push({ cursor: from, rows: answer.value.sessions })
      from = answer.value.next
    } while (fresh.length < pages.length && from !== null)
    pages = fresh
    next = from
    return null
  }

  /** Returns whether something changed. */
  const patch = (news: SessionNews): boolean => {
    looking.delete(newsSession(news)) // newer than what is on its way
    if (news.type === 'session.stopped') {
      if (pages.some(({ rows }) => rows.some(({ id }) => id === news.session))) void lookAt(news.session)
      return false
    }
    const before = pages
    if (news.type === 'session.removed') pages = dropRow(pages, news.session)
    else if (!isInList(news.session, filter)) pages = dropRow(pages, news.session.id)
    else pages = putRow(pages, news.session, above.length > 0, next !== null)
    return pages !== before
  }
  const lookAt = async (session: SessionId) => {
    looking.add(session)
    const row = await look(session)
    if (isClosed || !looking.delete(session)) return
    if (!row.ok && row.fault.code !== 'session_not_found' && row.fault.code !== 'session_trashed') return
    pages = row.ok ? putRow(pages, row.value, above.length > 0, next !== null) : dropRow(pages, session)
    changed()
  }

  return {
    /** Loads the pages that are loaded again; the first one at first. */
    reload: () => inTurn(reload),
    loadMore: () => inTurn(loadMore),
    loadEarlier: () => inTurn(loadEarlier),
    /** Goes back to the first page. */
    toTop: () =>
      inTurn(() => {
        above = []
        pages = []
        return reload()
      }),
    onNews(news: SessionNews): void {
      meanwhile?.push(news)
      if (patch(news)) changed()
    },
    close(): void {
      isClosed = true
    },
  }
}

/** Returns the pages without these rows. They are on one page only. */
function without(pages: readonly Page[], rows: readonly Meta[]): readonly Page[] {
  const taken = new Set(rows.map(({ id }) => id))
  return pages.map((page) =>
    page.rows.some(({ id }) => taken.has(id)) ? { ...page, rows: page.rows.filter(({ id }) => !taken.has(id)) } : page,
  )
}

function dropRow(pages: readonly Page[], session: string): readonly Page[] {
  const place = pages.findIndex(({ rows }) => rows.some(({ id }) => id === session))
  if (place < 0) return pages
  return pages.map((page, index) =>
    index === place ? { ...page, rows: page.rows.filter(({ id }) => id !== session) } : page,
  )
}

/** Returns the pages with the row in its place. A place above or below what is loaded is not shown. */
function putRow(pages: readonly Page[], meta: Meta, hasEarlier: boolean, hasMore: boolean): readonly Page[] {
  const rest = dropRow(pages, meta.id)
  const first = rest[0]?.rows[0]
  if (hasEarlier && first && inOrder(meta, first) < 0) return rest
  const place = rest.findIndex(({ rows }) => {
    const last = rows.at(-1)
    return last !== undefined && inOrder(meta, last) < 0
  })
  if (place < 0 && (hasMore || rest.length === 0)) return rest
  const at = place < 0 ? rest.length - 1 : place
  return rest.map((page, index) => (index === at ? { ...page, rows: insert(page.rows, meta) } : page))
}

function insert(rows: readonly Meta[], meta: Meta): readonly Meta[] {
  const found = rows.findIndex((other) => inOrder(meta, other) < 0)
  return found < 0 ? [...rows, meta] : rows.toSpliced(found, 0, meta)
}

/** Sorts like the server: pinned first, then newest first. */
function inOrder(left: Meta, right: Meta): number {
  if (left.pinned !== right.pinned) return left.pinned ? -1 : 1
  const [before, after] = [`${left.lastMessageAt} ${left.id}`, `${right.lastMessageAt} ${right.id}`]
  return before < after ? 1 : before > after ? -1 : 0
}
