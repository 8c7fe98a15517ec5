import type { Connection, RemoteSessions } from '@holdfast/client'
import { type Fault, limits, type Meta, newsSession, type SessionNews } from '@holdfast/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'

export type SessionListState = {
  readonly sessions: readonly Meta[]
  readonly isLoaded: boolean
  readonly hasMore: boolean
  /** Why the last load failed; the old list is still shown. */
  readonly fault: Fault | null
  readonly refresh: () => void
  readonly showMore: () => void
}

const pageSize = 100
const restMs = 30_000 // changes by other processes in the same store send no news
const failedMs = 2000
const typingMs = 150
const soonMs = 1000

type Listed = Pick<SessionListState, 'sessions' | 'isLoaded' | 'hasMore' | 'fault'>
const nothing: Listed = { sessions: [], isLoaded: false, hasMore: false, fault: null }

type Asking = { readonly ask: () => void; readonly onNews: (news: SessionNews) => void }
const notYet: Asking = { ask: () => undefined, onNews: () => undefined }

/** Returns the list. News updates it, and it is reloaded when news may have been missed. */
export function useSessionList(sessions: RemoteSessions, search: string): SessionListState {
  const [listed, setListed] = useState(nothing)
  const [limit, setLimit] = useState(pageSize)
  const asking = useRef(notYet)

  useEffect(() => {
    const words = search.trim()
    const isWhole = words === ''
    let timer: ReturnType<typeof setTimeout> | undefined
    let soon: ReturnType<typeof setTimeout> | undefined
    let asked = 0
    let shown: readonly Meta[] = []
    // News that arrives during a load may be newer than its answer, so it is applied again.
    let meanwhile: Map<string, SessionNews> | null = new Map()

    const ask = async () => {
      clearTimeout(timer)
      clearTimeout(soon)
      soon = undefined
      const mine = ++asked
      meanwhile = new Map()
      const result = await sessions.list({ limit, subagents: true, ...(!isWhole && { search: words }) })
      if (mine !== asked) return // a newer request is pending
      if (!result.ok) {
        setListed((before) => ({ ...before, isLoaded: true, fault: result.fault }))
        if (result.fault.code !== 'unauthorized') timer = setTimeout(askIfSeen, failedMs)
        return
      }
      const { sessions: answered, next } = result.value
      const missed = [...meanwhile.values()]
      meanwhile = null
      shown = answered
      setListed({ sessions: answered, isLoaded: true, hasMore: next !== null, fault: null })
      timer = setTimeout(askIfSeen, restMs)
      missed.forEach(onNews)
    }
    const askIfSeen = () => {
      if (!document.hidden) ask()
    }
    const onNews = (news: SessionNews) => {
      if (meanwhile) return void meanwhile.set(newsSession(news), news)
      if (needsLook(shown, news, isWhole)) soon ??= setTimeout(ask, soonMs)
      const next = addNews(shown, news, isWhole)
      if (next === shown) return
      shown = next
      setListed((before) => ({ ...before, sessions: next }))
    }

    asking.current = { ask, onNews }
    timer = setTimeout(ask, search === '' ? 0 : typingMs)
    addEventListener('focus', askIfSeen)
    return () => {
      asked = Number.POSITIVE_INFINITY
      asking.current = notYet
      clearTimeout(timer)
      clearTimeout(soon)
      removeEventListener('focus', askIfSeen)
    }
  }, [sessions, search, limit])

  const refresh = useCallback(() => asking.current.ask(), [])
  const onNews = useCallback((news: SessionNews) => asking.current.onNews(news), [])
  const showMore = useCallback(() => setLimit((limit) => Math.min(limit + pageSize, limits.listSessionsMax)), [])
  useNews(sessions, { isOn: listed.fault?.code !== 'unauthorized', onNews, onMissed: refresh })
  return { ...listed, hasMore: listed.hasMore && limit < limits.listSessionsMax, refresh, showMore }
}

type NewsListener = {
  readonly isOn: boolean
  readonly onNews: (news: SessionNews) => void
  /** The connection changed: news may have been missed. */
  readonly onMissed: () => void
}

/** Follows all sessions while the page is visible. Browsers allow few connections per server. */
function useNews(sessions: RemoteSessions, { isOn, onNews, onMissed }: NewsListener): void {
  useEffect(() => {
    if (!isOn) return
    let stop = new AbortController()
    const onConnection = ({ state }: Connection) => {
      if (state === 'live' || state === 'waiting') onMissed()
    }
    const follow = async () => {
      stop.abort()
      if (document.hidden) return
      stop = new AbortController()
      const { signal } = stop
      try {
        for await (const news of sessions.subscribe({ signal, onConnection })) if (!signal.aborted) onNews(news)
      } catch {
        onMissed() // refused; loading the list shows the reason
      }
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      stop.abort()
      document.removeEventListener('visibilitychange', follow)
    }
  }, [sessions, isOn, onNews, onMissed])
}

/**
 * Returns the list after one piece of news, sorted. A session that is not in the list is added only if `isWhole`: the list
 * is not filtered.
 */
export function addNews(listed: readonly Meta[], news: SessionNews, isWhole: boolean): readonly Meta[] {
  if (news.type === 'session.stopped') return listed
  if (news.type === 'session.removed') return without(listed, news.session)
  const { session } = news
  if (session.messageCount === 0) return listed // empty sessions are not listed
  const others = without(listed, session.id)
  if (others === listed && !isWhole) return listed
  return [...others, session].sort(inOrder)
}

function without(listed: readonly Meta[], session: string): readonly Meta[] {
  const others = listed.filter(({ id }) => id !== session)
  return others.length === listed.length ? listed : others
}

/** Whether the list must be loaded again after this. */
export const needsLook = (listed: readonly Meta[], news: SessionNews, isWhole: boolean): boolean =>
  news.type === 'session.stopped' ||
  (news.type !== 'session.removed' && !isWhole && listed.every(({ id }) => id !== news.session.id))

/** Sorts like the server: pinned first, then newest first. */
function inOrder(left: Meta, right: Meta): number {
  if (left.pinned !== right.pinned) return left.pinned ? -1 : 1
  const [before, after] = [`${left.lastMessageAt} ${left.id}`, `${right.lastMessageAt} ${right.id}`]
  return before < after ? 1 : before > after ? -1 : 0
}
