import type { RemoteSessions } from '@holdfast/client'

/** A tab that nobody sees leaves its streams after this time. */
export const restAfterMs = 30_000

/** A tab leaves its streams at once when this many other tabs were shown since it was: browsers allow six connections. */
const shownMax = 2

type TabRestDeps = {
  readonly sessions: Pick<RemoteSessions, 'rest' | 'wake'>
  readonly isHidden: () => boolean
  /** Whether this tab keeps the news for all tabs of the browser. */
  readonly isHolder: () => boolean
  /** Calls `work` after a time, unless the returned function is called. */
  readonly after: (ms: number, work: () => void) => () => void
  /** Tells the other tabs of this browser that this one is seen. */
  readonly announce: () => void
}

/** Lets the streams of a tab rest while nobody sees it. Its seats are kept, and it continues from its cursors. */
export function createTabRest({ sessions, isHidden, isHolder, after, announce }: TabRestDeps) {
  let shownOthers = 0
  let isResting = false
  let cancel: () => void = () => undefined

  const rest = () => {
    cancel()
    isResting = true
    void sessions.rest({ keepNews: isHolder() })
  }
  return {
    /** Call at the start, and each time the tab is shown or hidden. */
    onVisibility(): void {
      cancel()
      if (!isHidden()) {
        shownOthers = 0
        isResting = false
        sessions.wake()
        announce()
      } else cancel = after(restAfterMs, rest)
    },
    /** Call for a tab that starts in the background: it needs no stream until it is seen. */
    startHidden: rest,
    /** Call when another tab of this browser is shown. */
    onOtherShown(): void {
      if (!isHidden()) return
      shownOthers++
      if (!isResting && shownOthers >= shownMax) rest()
    },
    /** Call when this tab becomes the one that keeps the news. */
    onHolder(): void {
      if (isResting) rest()
    },
    isResting: () => isResting,
  }
}
