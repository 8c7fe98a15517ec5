import { limits, newsSession, type SessionNews } from '@holdfast/protocol'

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
