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

/** Tells whoever follows all sessions what becomes of them. */
export interface SessionNewsFeed {
  tell(news: SessionNews): void
  follow(signal?: AbortSignal): AsyncIterable<SessionNews>
}

/** Of a session that changes faster than someone reads, only the newest is kept: news say where a session stands. */
export function createSessionNewsFeed(): SessionNewsFeed {
  const followers = new Set<{ readonly waiting: Map<string, SessionNews>; wake: (() => void) | null }>()
  return {
    tell(news) {
      for (const follower of followers) {
        const key = `${news.type} ${newsSession(news)}`
        follower.waiting.delete(key) // so that it comes in the order of its newest word
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

/** What a person who looks elsewhere would want to be called for. */
export type Notification =
  | { readonly type: 'approval.asked'; readonly session: SessionId; readonly approval: PendingApproval }
  /** The session is at rest again: nothing follows by itself. */
  | { readonly type: 'turn.ended'; readonly session: SessionId; readonly reason: TurnEnd }

/** A function of the program that started the session. It cannot be on record, so it lasts as long as the process. */
export type Notifier = (notification: Notification) => void

/** Calls notifiers. Each question and each rest is told once, as it comes to be. */
interface Notifiers {
  /** `state` is where the session stands, if it is awake: a question that waits already is told at once. */
  set(id: SessionId, notifier: Notifier, state: SessionState | null): void
  look(id: SessionId, state: SessionState): void
}

type Watched = { readonly notifier: Notifier; askedUpTo: number; wasRunning: boolean }

export function createNotifiers(onProblem: OnProblem): Notifiers {
  const watched = new Map<SessionId, Watched>()
  function look(id: SessionId, state: SessionState): void {
    const one = watched.get(id)
    if (!one) return
    const tell = (notification: Notification) => {
      try {
        one.notifier(notification)
      } catch (cause) {
        onProblem({ where: `the notifier of ${id}`, cause })
      }
    }
    for (const approval of viewOf(state).pendingApprovals) {
      if (approval.id <= one.askedUpTo) continue
      one.askedUpTo = approval.id // a question is named by its seq, so later ones are larger
      tell({ type: 'approval.asked', session: id, approval })
    }
    const { turn } = state
    if (turn.phase === 'idle' && one.wasRunning && turn.last)
      tell({ type: 'turn.ended', session: id, reason: turn.last.reason })
    one.wasRunning = turn.phase !== 'idle'
  }

  return {
    look,
    set(id, notifier, state) {
      watched.set(id, { notifier, askedUpTo: 0, wasRunning: false })
      if (state) look(id, state)
    },
  }
}
