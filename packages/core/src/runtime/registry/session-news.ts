import { limits, type NodeNews, newsSession } from '@holdfast/protocol'

/** Publishes what happens to sessions to everyone who follows them all. */
export interface SessionNewsFeed {
  publish(news: NodeNews): void
  follow(signal?: AbortSignal): AsyncIterable<NodeNews>
}

/** Keeps only the newest news of each session for a slow reader: news describe the current state. */
export function createSessionNewsFeed(): SessionNewsFeed {
  const followers = new Set<{ readonly waiting: Map<string, NodeNews>; wake: (() => void) | null }>()
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
      const follower = { waiting: new Map<string, NodeNews>(), wake: null as (() => void) | null }
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
