import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { createNodeApi, type SessionRegistry } from '@holdfast/core'
import type { Cluster, NodeRow, OnProblem, ServedFolder, Store } from '@holdfast/core/ports'
import { fault, HoldfastError } from '@holdfast/protocol'
import { newNodeId } from '../../system/node/node-socket.ts'
import type { OwnNode } from '../own-node.ts'
import { startWakeWatch } from '../wake-watch.ts'
import { openNodeListener } from './node-listener.ts'
import { createNodeKey } from './node-proof.ts'
import { createReach } from './reach-url.ts'
import { startTermKeeper } from './term-keeper.ts'

/** How this process takes part in a cluster. */
export type NodeOptions = {
  /** Where other nodes reach this one, such as `http://10.0.0.7:4821`; by default a port that only this machine can reach. */
  readonly url?: string | undefined
  /** Folders that other nodes have too, as `LABEL=FOLDER`. All other folders count as of this machine alone. */
  readonly serves?: readonly string[] | undefined
}

const pauseMsMax = 400
/** How often dead nodes are looked for: their busy sessions are settled. */
const sweepMs = 2000
/** How long an answer about all nodes serves everyone who asks. */
const knownMs = 150

type ClusterNodeDeps = {
  readonly store: Store
  readonly cluster: Cluster
  readonly options: NodeOptions
  readonly nowMs: number
}

/** Opens this process as a node of a cluster: it has a URL, and lives while its term, by the clock of the store, has not ended. */
export async function openClusterNode({ store, cluster, options, nowMs }: ClusterNodeDeps): Promise<OwnNode> {
  const [id, key] = [newNodeId(), createNodeKey()]
  const serves = [...(options.serves ?? []).map(parseServed), { label: hostname(), path: '/' }]
  const listener = await openNodeListener({ id, key }, options.url)
  const row: NodeRow = { id, address: listener.address, startedAt: new Date(nowMs).toISOString() }
  const { reach, close: closeReach } = createReach(cluster.keyOf)
  const join = () => cluster.join({ ...row, key, serves })
  let running: SessionRegistry | null = null
  let report: OnProblem = () => undefined
  let keeper: ReturnType<typeof startTermKeeper> | null = null
  const startKeeper = () =>
    startTermKeeper({
      cluster,
      id,
      onEnding: () => running?.membership.suspend(),
      onKept: async () => running?.membership.resume(),
      // A node that closes leaves by itself.
      onEnded: async () => running?.closedFault() ?? join(),
      onProblem: (cause) => report({ where: 'renewing the term of this node', cause }),
    })
  return {
    deps: { node: row, isAlive: createIsAlive(store), reach, cluster },
    async join() {
      keeper = startKeeper() // counts from before the term begins
      await join()
    },
    serve(registry, onProblem, checkBearer) {
      running = registry
      report = onProblem
      listener.serve(createNodeApi(registry), onProblem, checkBearer)
      const waking = startWakeWatch(pauseMsMax, () => keeper?.renewNow())
      const sweeping = setInterval(() => sweep(registry, onProblem), sweepMs).unref()
      return {
        close() {
          waking.close()
          clearInterval(sweeping)
        },
      }
    },
    async drain(signal) {
      // Without the mark it may still be sent sessions; those it has are handed over all the same.
      await cluster.drain(id).catch((cause) => report({ where: 'marking this node as about to stop', cause }))
      await running?.membership.drain(signal)
    },
    async close() {
      keeper?.close()
      closeReach()
      await listener.close()
    },
  }
}

/** Settles what dead nodes left busy, so that a list shows it as it is and questions can expire. */
function sweep(registry: SessionRegistry, onProblem: OnProblem): void {
  if (registry.closedFault() || registry.membership.isDraining()) return
  const work = async () => {
    const nodes = await registry.deps.store.nodes().catch(() => []) // an outage: the next time
    if (nodes.some(({ id, isLive }) => id !== registry.deps.node.id && isLive === false)) await registry.settleCrashed()
  }
  work().catch((cause) => registry.closedFault() ?? onProblem({ where: 'settling what dead nodes left', cause }))
}

/** Asks the store about the term of a node. While the store cannot be asked, no node counts as dead. */
function createIsAlive({ nodes }: Pick<Store, 'nodes'>): (node: NodeRow) => Promise<boolean> {
  let known: { readonly untilMs: number; readonly live: Promise<ReadonlySet<string> | null> } | null = null
  const read = async () => new Set((await nodes()).flatMap(({ id, isLive }) => (isLive ? [id] : [])))
  return async ({ id }) => {
    if (known === null || known.untilMs < performance.now())
      known = { untilMs: performance.now() + knownMs, live: read().catch(() => null) }
    return (await known.live)?.has(id) ?? true
  }
}

/** Parses `LABEL=FOLDER`. */
function parseServed(text: string): ServedFolder {
  const [, label, path] = /^([\w.-]{1,64})=(.+)$/.exec(text) ?? []
  if (label !== undefined && path !== undefined) return { label, path: resolve(path) }
  throw new HoldfastError(
    fault('bad_request', `"${text}" names no folder. Use LABEL=FOLDER, such as shared=/srv/work.`),
  )
}
