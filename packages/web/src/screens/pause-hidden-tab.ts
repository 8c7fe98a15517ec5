import type { RemoteSessions } from '@holdfast/client'

/** A tab that nobody sees leaves its streams after this time. */
export const pauseAfterMs = 30_000

/** A tab leaves its streams at once when this many other tabs were shown since it was: browsers allow six connections. */
const shownMax = 2

type TabPauseDeps = {
  readonly sessions: Pick<RemoteSessions, 'pause' | 'resume'>
  readonly isHidden: () => boolean
  /** Whether this tab keeps the news for all tabs of the browser. */
  readonly isHolder: () => boolean
  /** Calls `work` after a time, unless the returned function is called. */
  readonly after: (ms: number, work: () => void) => () => void
  /** Tells the other tabs of this browser that this one is seen. */
  readonly announce: () => void
}

/** Pauses the streams of a tab while nobody sees it. Its seats are kept, and it continues from its cursors. */
export function createTabPause({ sessions, isHidden, isHolder, after, announce }: TabPauseDeps) {
  let shownOthers = 0
  let isPaused = false
  let cancel: () => void = () => undefined

  const pause = () => {
    cancel()
    isPaused = true
    void sessions.pause({ keepNews: isHolder() })
  }
  return {
    /** Call at the start, and each time the tab is shown or hidden. */
    onVisibility(): void {
      cancel()
      if (!isHidden()) {
        shownOthers = 0
        isPaused = false
        sessions.resume()
        announce()
      } else cancel = after(pauseAfterMs, pause)
    },
    /** Call for a tab that starts in the background: it needs no stream until it is seen. */
    startHidden: pause,
    /** Call when another tab of this browser is shown. */
    onOtherShown(): void {
      if (!isHidden()) return
      shownOthers++
      if (!isPaused && shownOthers >= shownMax) pause()
    },
    /** Call when this tab becomes the one that keeps the news. */
    onHolder(): void {
      if (isPaused) pause()
    },
    isPaused: () => isPaused,
  }
}
