import type { Connection, RemoteSessions } from '@holdfast/client'
import { fault, HoldfastError, type SessionNews } from '@holdfast/protocol'
import { awaitChoice } from '../stream/open-stream-fetch.ts'
import { drawFavicon } from './favicon.ts'
import { notifyWaiting } from './notify.ts'
import { createTabPause } from './pause-hidden-tab.ts'
import { addToWaiting, newlyWaiting, topWaiting, type Waiting, waitingOf } from './waiting.ts'

/** What all screens of this tab share: its connection, the news, and which sessions wait. */
export interface Screens {
  readonly connection: Connection
  /** When the next try begins, while the connection is lost. */
  readonly retryAtMs: number | null
  readonly waiting: Waiting
  /** Calls `listener` when the connection or the waiting sessions change. */
  readonly subscribe: (listener: () => void) => () => void
  /** Follows the news. `onMissed` is called when some may have been missed. */
  follow(listener: NewsListener): () => void
  /** Connects again at once. */
  retry(): void
}

export type NewsListener = { readonly onNews: (news: SessionNews) => void; readonly onMissed: () => void }

/** At each connection so many sessions that wait are read; later the news say so. */
const waitingMax = 200

const channelName = 'holdfast.screens'
const holderLock = 'holdfast.news'
/** Every tab that is seen holds this lock, shared with the others. */
const seenLock = 'holdfast.seen'

type Said = { readonly type: 'shown' } | { readonly type: 'waiting'; readonly waiting: Waiting }

/** Opens the part of the page that all screens share. It lasts as long as the tab. */
export function openScreens(sessions: RemoteSessions): Screens {
  const listeners = new Set<() => void>()
  const newsListeners = new Set<NewsListener>()
  const channel = new BroadcastChannel(channelName)
  const say = (said: Said) => channel.postMessage(said)
  let isHolder = false
  let isFollowing = false
  let leaveSeen: () => void = () => undefined

  const state = {
    connection: { state: 'connecting' } as Connection,
    retryAtMs: null as number | null,
    waiting: new Map() as Waiting,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    follow(listener: NewsListener) {
      newsListeners.add(listener)
      return () => void newsListeners.delete(listener)
    },
    retry() {
      if (isFollowing) sessions.reconnect()
      else void followNews()
    },
  }
  const changed = () => {
    for (const listener of [...listeners]) listener()
  }
  const setWaiting = (next: Waiting) => {
    const before = state.waiting
    if (next === before) return
    state.waiting = next
    const count = topWaiting(next).length
    drawFavicon(count)
    void navigator.setAppBadge?.(count).catch(() => undefined) // only an installed page has a badge
    if (isHolder) say({ type: 'waiting', waiting: next })
    if (isHolder) void notifyWaiting(newlyWaiting(before, next), isAnySeen)
    changed()
  }
  const loadWaiting = async () => {
    const found = await sessions.list({ waiting: true, subagents: true, limit: waitingMax })
    if (found.ok) setWaiting(waitingOf(found.value.sessions)) // else the next connection tries again
  }
  const onConnection = (connection: Connection) => {
    state.connection = connection
    state.retryAtMs = connection.state === 'waiting' ? Date.now() + connection.retryMs : null
    changed()
    if (connection.state === 'live') void loadWaiting()
    if (connection.state !== 'connecting') for (const { onMissed } of newsListeners) onMissed()
  }
  const followNews = async () => {
    isFollowing = true
    try {
      for await (const news of sessions.subscribe({ onConnection })) {
        for (const { onNews } of newsListeners) onNews(news)
        setWaiting(addToWaiting(state.waiting, news))
      }
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      onConnection({ state: 'ended', fault: fault(error.code, error.message) })
    } finally {
      isFollowing = false
    }
  }

  const pause = openTabPause(sessions, channel, () => isHolder)
  const onVisibility = () => {
    pause.onVisibility()
    leaveSeen()
    if (!document.hidden) leaveSeen = holdLock(seenLock, 'shared')
  }
  channel.addEventListener('message', ({ data }: MessageEvent<Said>) => {
    if (data.type === 'shown') pause.onOtherShown()
    else if (pause.isPaused()) setWaiting(data.waiting)
  })
  document.addEventListener('visibilitychange', onVisibility)
  if (document.hidden) pause.startHidden()
  else onVisibility()
  void followNews()
  const becomeHolder = () => {
    isHolder = true
    pause.onHolder()
    say({ type: 'waiting', waiting: state.waiting })
  }
  if (navigator.locks) holdLock(holderLock, 'exclusive', becomeHolder)
  else awaitChoice(becomeHolder)
  return state
}

/** Pauses the streams of this tab while nobody sees it. A closed tab keeps no seat. */
function openTabPause(sessions: RemoteSessions, channel: BroadcastChannel, isHolder: () => boolean) {
  addEventListener('pagehide', sessions.leave)
  const shown: Said = { type: 'shown' }
  return createTabPause({
    sessions,
    isHolder,
    isHidden: () => document.hidden,
    after(ms, work) {
      const timer = setTimeout(work, ms)
      return () => clearTimeout(timer)
    },
    announce: () => channel.postMessage(shown),
  })
}

/** Pauses the tab of a share link while nobody sees it. It has no news. */
export function pauseWhenHidden(sessions: RemoteSessions): void {
  const channel = new BroadcastChannel(channelName)
  const pause = openTabPause(sessions, channel, () => false)
  channel.addEventListener('message', ({ data }: MessageEvent<Said>) => data.type === 'shown' && pause.onOtherShown())
  document.addEventListener('visibilitychange', pause.onVisibility)
  if (document.hidden) pause.startHidden()
  else pause.onVisibility()
}

/** Holds a lock of this browser until the returned function is called. Without locks, as on plain HTTP, it does nothing. */
function holdLock(name: string, mode: LockMode, onHeld: () => void = () => undefined): () => void {
  const held = Promise.withResolvers<void>()
  const given = new AbortController()
  navigator.locks
    ?.request(name, { mode, signal: given.signal }, () => {
      onHeld()
      return held.promise
    })
    .catch((error: unknown) => {
      if (!given.signal.aborted) throw error
    })
  return () => {
    given.abort()
    held.resolve()
  }
}

/** Returns whether a person sees any tab of this page in this browser. */
async function isAnySeen(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query()
  return held.some(({ name }) => name === seenLock)
}
