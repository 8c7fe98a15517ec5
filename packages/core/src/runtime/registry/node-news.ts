import type { NodeRow } from '../../ports/store/lease.ts'
import type { NodeDeps } from '../dependencies.ts'
import type { Owners } from './owners.ts'
import { createSessionNewsFeed, type SessionNewsFeed } from './session-news.ts'

/** How often new nodes are looked for while someone follows the news: one read of a small table. */
const lookMs = 1000

type NodeNewsDeps = Pick<NodeDeps, 'clock' | 'isAlive' | 'reach' | 'onProblem'> & {
  readonly owners: Owners
  /** Settles what a dead node left busy. */
  readonly settle: () => Promise<unknown>
}

/** The news of this node and, while someone follows them, of all other nodes of the store. */
export function createNodeNews(deps: NodeNewsDeps) {
  const own = createSessionNewsFeed()
  const all = createSessionNewsFeed()
  const followed = new Map<string, AbortController>()
  let followers = 0
  let cancel: (() => void) | null = null

  const report = (cause: unknown) => deps.onProblem({ where: 'the news of other processes', cause })

  function look(): void {
    cancel = null
    deps.owners
      .others()
      .then((nodes) => {
        if (followers === 0) return
        for (const node of nodes) if (!followed.has(node.id)) follow(node).catch(report)
      })
      .catch(report)
      .finally(() => {
        if (followers > 0) cancel ??= deps.clock.after(lookMs, look)
      })
  }

  async function follow(node: NodeRow): Promise<void> {
    const leaving = new AbortController()
    followed.set(node.id, leaving)
    try {
      for await (const one of deps.owners.connect(node).news(leaving.signal)) all.publish(one)
      if (!leaving.signal.aborted && !(await deps.isAlive(node))) await deps.settle()
    } finally {
      if (followed.get(node.id) === leaving) followed.delete(node.id)
    }
  }

  const news: SessionNewsFeed = {
    follow: own.follow,
    publish(one) {
      own.publish(one)
      all.publish(one)
    },
  }
  return {
    /** The news of this node alone, which it tells other nodes. */
    news,
    /** Follows the news of all nodes. */
    async *followAll(signal?: AbortSignal) {
      if (followers++ === 0 && deps.reach) look()
      try {
        yield* all.follow(signal)
      } finally {
        if (--followers === 0) {
          cancel?.()
          cancel = null
          for (const one of followed.values()) one.abort()
          followed.clear()
        }
      }
    },
  }
}
