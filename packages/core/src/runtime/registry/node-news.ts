import { type NodeNews, newsSession, type SessionId } from '@holdfast/protocol'
import type { Cluster } from '../../ports/store/cluster.ts'
import type { NodeRow } from '../../ports/store/lease.ts'
import type { NodeDeps } from '../dependencies.ts'
import type { Owners } from './owners.ts'
import { createSessionNewsFeed, type SessionNewsFeed } from './session-news.ts'
import type { SessionStores } from './session-stores.ts'

/** How often new nodes are looked for while someone follows the news: one read of a small table. */
const lookMs = 1000

type NodeNewsDeps = Pick<NodeDeps, 'node' | 'clock' | 'isAlive' | 'reach' | 'onProblem' | 'cluster'> & {
  readonly owners: Owners
  readonly entry: SessionStores['entry']
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

  const attached = new Map<SessionId, number>()
  let leaving: AbortController | null = null

  function begin(): void {
    if (deps.reach) look()
    if (!deps.cluster) return
    leaving = new AbortController()
    followChanges(deps.cluster, leaving.signal).catch(report)
  }

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

  /** Keeps how many clients a session of another node has, if any. */
  function noteAttached(one: NodeNews): void {
    const count = one.type === 'session.changed' || one.type === 'session.started' ? one.session.attachments : 0
    if (count) attached.set(newsSession(one), count)
    else attached.delete(newsSession(one))
  }

  async function follow(node: NodeRow): Promise<void> {
    const leaving = new AbortController()
    followed.set(node.id, leaving)
    try {
      for await (const one of deps.owners.connect(node).news(leaving.signal)) {
        noteAttached(one)
        all.publish(one)
      }
      if (!leaving.signal.aborted && !(await deps.isAlive(node))) await deps.settle()
    } finally {
      if (followed.get(node.id) === leaving) followed.delete(node.id)
    }
  }

  /** Tells of the changes of every node, also of one that cannot be reached: the rows are the truth. */
  async function followChanges({ changes }: Pick<Cluster, 'changes'>, signal: AbortSignal): Promise<void> {
    for await (const sessions of changes(signal))
      for (const id of sessions) {
        const row = await deps.entry(id).catch(() => null) // the next change tells it
        if (row === null || !row.entry.spoken || row.trashedAt !== null) continue
        if (row.owner === deps.node.id) continue
        const attachments = attached.get(id) // no row has them: as the owner told
        all.publish({ type: 'session.changed', session: { ...row.entry.meta, ...(attachments && { attachments }) } })
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
      if (followers++ === 0) begin()
      try {
        yield* all.follow(signal)
      } finally {
        if (--followers === 0) {
          cancel?.()
          cancel = null
          leaving?.abort()
          for (const one of followed.values()) one.abort()
          followed.clear()
        }
      }
    },
  }
}
