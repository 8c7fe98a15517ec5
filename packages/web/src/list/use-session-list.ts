import type { RemoteSessions } from '@holdfast/client'
import { ok, type SessionNews } from '@holdfast/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useScreens } from '../screens/use-screens.ts'
import type { ListFilter } from './list-filter.ts'
import { createSessionPages, type LoadedSessions, nothingLoaded, type SessionPages } from './session-pages.ts'

export type SessionListState = LoadedSessions & {
  /** Loads again what is loaded. */
  readonly refresh: () => void
  readonly loadMore: () => void
  readonly loadEarlier: () => void
  readonly toTop: () => void
}

const restMs = 30_000 // changes by other processes in the same store send no news
const restSessionsMax = 300 // a list that is longer is loaded again only when news may have been missed
const failedMs = 2000
const typingMs = 150

/** Returns the list. News updates it, and it is reloaded when news may have been missed. Without a filter it is empty. */
export function useSessionList(sessions: RemoteSessions, filter: ListFilter | null): SessionListState {
  const [loaded, setLoaded] = useState(nothingLoaded)
  const opened = useRef<SessionPages | null>(null)

  useEffect(() => {
    if (filter === null) return setLoaded(nothingLoaded)
    const pages = createSessionPages({ list: sessions.list, look: (id) => readRow(sessions, id), onChange }, filter)
    opened.current = pages
    let timer = setTimeout(pages.reload, filter.search === '' ? 0 : typingMs)
    function onChange(now: LoadedSessions): void {
      setLoaded(now)
      clearTimeout(timer)
      if (now.fault?.code === 'unauthorized') return
      if (now.fault) timer = setTimeout(reloadIfSeen, failedMs)
      else if (now.sessions.length <= restSessionsMax) timer = setTimeout(reloadIfSeen, restMs)
    }
    function reloadIfSeen(): void {
      if (!document.hidden) void pages.reload()
    }
    addEventListener('focus', reloadIfSeen)
    return () => {
      opened.current = null
      pages.close()
      clearTimeout(timer)
      removeEventListener('focus', reloadIfSeen)
    }
  }, [sessions, filter])

  const onNews = useCallback((news: SessionNews) => opened.current?.onNews(news), [])
  const refresh = useCallback(() => void opened.current?.reload(), [])
  useNews(loaded.fault?.code !== 'unauthorized', onNews, refresh)
  const isBusy = useRef(false)
  return useMemo(() => {
    /** One page at a time: a person who scrolls asks again and again. */
    const once = (work: (pages: SessionPages) => Promise<void>) => () => {
      if (isBusy.current || !opened.current) return
      isBusy.current = true
      void work(opened.current).finally(() => {
        isBusy.current = false
      })
    }
    const loadMore = once((pages) => pages.loadMore())
    const loadEarlier = once((pages) => pages.loadEarlier())
    return { ...loaded, refresh, loadMore, loadEarlier, toTop: () => void opened.current?.toTop() }
  }, [loaded, refresh])
}

/** Reads the row of one session. */
async function readRow(sessions: RemoteSessions, id: string) {
  const handle = await sessions.open(id)
  if (!handle.ok) return handle
  const state = await handle.value.state(['meta'])
  return state.ok ? ok(state.value.meta) : state
}

/** Follows the news of all sessions. */
function useNews(isOn: boolean, onNews: (news: SessionNews) => void, onMissed: () => void): void {
  const screens = useScreens()
  useEffect(() => (isOn ? screens.follow({ onNews, onMissed }) : undefined), [screens, isOn, onNews, onMissed])
}
