import { type Fault, limits, type Meta, type Sessions } from '@holdfast/protocol'
import { useCallback, useEffect, useRef, useState } from 'react'
import { isBusy } from '../session/status-text.ts'

export type SessionListState = {
  readonly sessions: readonly Meta[]
  readonly isLoaded: boolean
  readonly hasMore: boolean
  /** Why the last try failed; what was there before is still shown. */
  readonly fault: Fault | null
  readonly refresh: () => void
  readonly showMore: () => void
}

const pageSize = 100
const restMs = 8000
const busyMs = 2000
const typingMs = 150

type Listed = Pick<SessionListState, 'sessions' | 'isLoaded' | 'hasMore' | 'fault'>
const nothing: Listed = { sessions: [], isLoaded: false, hasMore: false, fault: null }

/** The list, asked for again in a rhythm that follows what happens: often while something runs, not at all unseen. */
export function useSessionList(sessions: Sessions, search: string): SessionListState {
  const [listed, setListed] = useState(nothing)
  const [limit, setLimit] = useState(pageSize)
  const again = useRef<() => void>(() => undefined)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let asked = 0
    const ask = async () => {
      clearTimeout(timer)
      const mine = ++asked
      const words = search.trim()
      const result = await sessions.list({ limit, ...(words !== '' && { search: words }) })
      if (mine !== asked) return // a newer question is on its way
      if (result.ok) {
        const { sessions, next } = result.value
        setListed({ sessions, isLoaded: true, hasMore: next !== null, fault: null })
        timer = setTimeout(askIfSeen, sessions.some(({ status }) => isBusy(status)) ? busyMs : restMs)
      } else {
        setListed((before) => ({ ...before, isLoaded: true, fault: result.fault }))
        if (result.fault.code !== 'unauthorized') timer = setTimeout(askIfSeen, busyMs)
      }
    }
    const askIfSeen = () => {
      if (!document.hidden) ask()
    }
    again.current = ask
    timer = setTimeout(ask, search === '' ? 0 : typingMs)
    addEventListener('focus', askIfSeen)
    document.addEventListener('visibilitychange', askIfSeen)
    return () => {
      asked = Number.POSITIVE_INFINITY
      clearTimeout(timer)
      removeEventListener('focus', askIfSeen)
      document.removeEventListener('visibilitychange', askIfSeen)
    }
  }, [sessions, search, limit])

  const refresh = useCallback(() => again.current(), [])
  const showMore = useCallback(() => setLimit((limit) => Math.min(limit + pageSize, limits.listSessionsMax)), [])
  return { ...listed, hasMore: listed.hasMore && limit < limits.listSessionsMax, refresh, showMore }
}
