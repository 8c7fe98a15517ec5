import type { RemoteSessions } from '@holdfast/client'
import { type Fault, limits, type Meta, newsSession, type SessionNews } from '@holdfast/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { addNews, needsLook } from './add-news.ts'
import { useNews } from './use-news.ts'

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

type Asking = { readonly ask: () => void; readonly hear: (news: SessionNews) => void }
const notYet: Asking = { ask: () => undefined, hear: () => undefined }

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
      const result = await sessions.list({ limit, ...(!isWhole && { search: words }) })
      if (mine !== asked) return // a newer request is pending
      if (!result.ok) {
        setListed((before) => ({ ...before, isLoaded: true, fault: result.fault }))
        if (result.fault.code !== 'unauthorized') timer = setTimeout(askIfSeen, failedMs)
        return
      }
      const { sessions: answered, next } = result.value
      const heard = [...meanwhile.values()]
      meanwhile = null
      shown = answered
      setListed({ sessions: answered, isLoaded: true, hasMore: next !== null, fault: null })
      timer = setTimeout(askIfSeen, restMs)
      heard.forEach(hear)
    }
    const askIfSeen = () => {
      if (!document.hidden) ask()
    }
    const hear = (news: SessionNews) => {
      if (meanwhile) return void meanwhile.set(newsSession(news), news)
      if (needsLook(shown, news, isWhole)) soon ??= setTimeout(ask, soonMs)
      const next = addNews(shown, news, isWhole)
      if (next === shown) return
      shown = next
      setListed((before) => ({ ...before, sessions: next }))
    }

    asking.current = { ask, hear }
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
  const hear = useCallback((news: SessionNews) => asking.current.hear(news), [])
  const showMore = useCallback(() => setLimit((limit) => Math.min(limit + pageSize, limits.listSessionsMax)), [])
  useNews(sessions, { isOn: listed.fault?.code !== 'unauthorized', onNews: hear, onMissed: refresh })
  return { ...listed, hasMore: listed.hasMore && limit < limits.listSessionsMax, refresh, showMore }
}
