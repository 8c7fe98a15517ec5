import type { Connection, RemoteSessions } from '@holdfast/client'
import type { SessionNews } from '@holdfast/protocol'
import { useEffect } from 'react'

type NewsListener = {
  readonly isOn: boolean
  readonly onNews: (news: SessionNews) => void
  /** The connection changed: news may have been missed. */
  readonly onMissed: () => void
}

/** Follows all sessions while the page is visible. Browsers allow few connections per server. */
export function useNews(sessions: RemoteSessions, { isOn, onNews, onMissed }: NewsListener): void {
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
