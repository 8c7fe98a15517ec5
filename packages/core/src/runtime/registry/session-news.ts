import {
  limits,
  newsSession,
  type PendingApproval,
  type SessionId,
  type SessionNews,
  type TurnEnd,
} from '@holdfast/protocol'
import type { OnProblem } from '../../ports/observer.ts'
import type { SessionState } from '../../session/state.ts'
import { viewOf } from '../../session/view.ts'

/** Publishes what happens to sessions to everyone who follows them all. */
export interface SessionNewsFeed {
  publish(news: SessionNews): void
  follow(signal?: AbortSignal): AsyncIterable<SessionNews>
}

/** Keeps only the newest news of each session for a slow reader: news describe the current state. */
export function createSessionNewsFeed(): SessionNewsFeed {
  const followers = new Set<{ readonly waiting: Map<string, SessionNews>; wake: (() => void) | null }>()
  return {
    publish(news) {
      for (const follower of followers) {
        const key = `${news.type} ${newsSession(news)}`
        follower.waiting.delete(key) // the newest entry of a session moves to the end
        follower.waiting.set(key, news)
        if (follower.waiting.size > limits.newsWaitingMax) followers.delete(follower)
        follower.wake?.()
      }
    },

    async *follow(signal) {
      const follower = { waiting: new Map<string, SessionNews>(), wake: null as (() => void) | null }
      followers.add(follower)
      const leave = () => {
        followers.delete(follower)
        follower.wake?.()
      }
      signal?.addEventListener('abort', leave, { once: true })
      try {
        while (followers.has(follower) && !signal?.aborted) {
          const [next] = follower.waiting
          if (next) {
            follower.waiting.delete(next[0])
            yield next[1]
          } else {
            await new Promise<void>((resolve) => {
              follower.wake = resolve
            })
          }
        }
      } finally {
        signal?.removeEventListener('abort', leave)
        leave()
      }
    },
  }
}

/** What a person wants to be notified of. */
export type Notification =
  | { readonly type: 'approval.asked'; readonly session: SessionId; readonly approval: PendingApproval }
  /** The session is idle again and starts nothing by itself. */
  | { readonly type: 'turn.ended'; readonly session: SessionId; readonly reason: TurnEnd }

/** A callback of the program that started the session. It cannot be recorded, so it lasts as long as the process. */
export type Notifier = (notification: Notification) => void

type Watched = { readonly notifier: Notifier; askedUpTo: number; wasRunning: boolean }

/** Calls notifiers, once for each question and each end of a turn. */
export function createNotifiers(onProblem: OnProblem) {
  const watched = new Map<SessionId, Watched>()
  function afterChange(id: SessionId, state: SessionState): void {
    const one = watched.get(id)
    if (!one) return
    const notify = (notification: Notification) => {
      try {
        one.notifier(notification)
      } catch (cause) {
        onProblem({ where: `the notifier of ${id}`, cause })
      }
    }
    for (const approval of viewOf(state).pendingApprovals) {
      if (approval.id <= one.askedUpTo) continue
      one.askedUpTo = approval.id // an approval id is a seq, so later ones are larger
      notify({ type: 'approval.asked', session: id, approval })
    }
    const { turn } = state
    if (turn.phase === 'idle' && one.wasRunning && turn.last)
      notify({ type: 'turn.ended', session: id, reason: turn.last.reason })
    one.wasRunning = turn.phase !== 'idle'
  }

  return {
    afterChange,
    /** `state` is given if the session is loaded: an open question is notified at once. */
    set(id: SessionId, notifier: Notifier, state: SessionState | null): void {
      watched.set(id, { notifier, askedUpTo: 0, wasRunning: false })
      if (state) afterChange(id, state)
    },
  }
}
