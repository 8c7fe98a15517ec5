import { type FaultCode, fault, type NodeCall, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { OtherNode } from '../../ports/other-node.ts'
import type { NodeRow } from '../../ports/store/lease.ts'
import type { NodeDeps } from '../dependencies.ts'
import type { SessionStores } from './session-stores.ts'

/** How often a node is asked whether it is alive while this one waits for it. A killed one closes its connections at once. */
const watchMs = 500

/** Finds the processes that own sessions and connects to them. */
export interface Owners {
  /**
   * Returns the other node that owns the session by the store; it may be dead. In a cluster, returns the node that has to
   * run it. Null: this node may.
   */
  find(id: SessionId): Promise<OtherNode | null>
  /** Connects to the node with this id; null if it is not registered, or is this one. */
  reach(id: unknown): Promise<OtherNode | null>
  /** Returns the other registered nodes; some may be dead. */
  others(): Promise<readonly NodeRow[]>
  /** Ends all calls and streams. */
  close(): void
  /** Connects to a node. Calls and streams end when it stops answering. */
  connect(node: NodeRow): OtherNode
}

type OwnerDeps = Pick<NodeDeps, 'store' | 'node' | 'isAlive' | 'reach' | 'clock' | 'cluster'>

export function createOwners(deps: OwnerDeps, { entry }: Pick<SessionStores, 'entry'>): Owners {
  const { store, node, reach, cluster } = deps
  const watch = createNodeWatch(deps)
  const closing = new AbortController()
  const rows = new Map<string, NodeRow>() // the row of a node never changes

  const connect = (row: NodeRow): OtherNode => watched(row, reach?.(row) ?? nowhere, watch, closing.signal)
  const others = async () => {
    const known = (await store.nodes()).filter(({ id }) => id !== node.id)
    rows.clear()
    for (const row of known) rows.set(row.id, row)
    return known
  }
  const ownerOf = async (id: SessionId) => (cluster ? cluster.place(id, node.id) : (await entry(id))?.owner)
  const reachId = async (id: unknown): Promise<OtherNode | null> => {
    if (!reach || typeof id !== 'string' || id === node.id) return null
    if (!rows.has(id)) await others()
    const row = rows.get(id)
    return row ? connect(row) : null
  }
  return {
    others,
    connect,
    close: () => closing.abort(),
    reach: reachId,
    find: async (id) => (reach && !closing.signal.aborted ? reachId(await ownerOf(id)) : null),
  }
}

const unreachable = fault('unreachable', 'The process that owns the session does not answer.')

const nowhere: OtherNode = {
  call: async () => refuse(unreachable),
  sit: async () => refuse(unreachable),
  async *follow() {},
  async *news() {},
}

type NodeWatch = ReturnType<typeof createNodeWatch>

/** Ends what waits for a node that no longer answers: a stopped process keeps its connections open. */
function createNodeWatch({ isAlive, clock }: OwnerDeps) {
  const watched = new Map<string, Set<AbortController>>()

  function schedule(row: NodeRow, waiting: Set<AbortController>): void {
    clock.after(watchMs, async () => {
      if (watched.get(row.id) !== waiting) return
      const alive = await isAlive(row)
      if (watched.get(row.id) !== waiting) return
      if (alive) return schedule(row, waiting)
      watched.delete(row.id)
      for (const one of waiting) one.abort()
    })
  }

  return {
    /** Returns a signal that aborts when the node is dead, or `signal` aborts; call `end` when nothing waits for it. */
    begin(row: NodeRow, signal: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
      const dead = new AbortController()
      const known = watched.get(row.id)
      const waiting = known ?? new Set()
      waiting.add(dead)
      if (!known) {
        watched.set(row.id, waiting)
        schedule(row, waiting)
      }
      const end = () => {
        waiting.delete(dead)
        if (waiting.size === 0 && watched.get(row.id) === waiting) watched.delete(row.id)
      }
      return { signal: AbortSignal.any([signal, dead.signal]), end }
    },
  }
}

/** Adds the watch to each request and stream. */
function watched(row: NodeRow, other: OtherNode, watch: NodeWatch, closing: AbortSignal): OtherNode {
  const begin = (signal: AbortSignal) => watch.begin(row, AbortSignal.any([signal, closing]))
  const during = async <Value>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<Value>): Promise<Value> => {
    const watching = begin(signal)
    return ask(watching.signal).finally(watching.end)
  }
  async function* through<Item>(signal: AbortSignal, follow: (signal: AbortSignal) => AsyncIterable<Item>) {
    const watching = begin(signal)
    try {
      yield* follow(watching.signal)
    } finally {
      watching.end()
    }
  }
  return {
    call: (request: NodeCall, signal) => during(signal, (own) => other.call(request, own)),
    follow: (request, signal) => through(signal, (own) => other.follow(request, own)),
    news: (signal) => through(signal, (own) => other.news(own)),
    async sit(request, signal) {
      const watching = begin(signal)
      const seat = await other.sit(request, watching.signal)
      if (seat.ok) seat.value.lost.then(watching.end)
      else watching.end()
      return seat
    },
  }
}

const movedCodes: readonly FaultCode[] = ['unreachable', 'session_locked', 'fenced', 'session_stopped']

/** Returns whether an answer says that the session is not at that node, or no longer: its owner has to be looked up again. */
export const hasMoved = (answer: Result<unknown>): boolean =>
  !answer.ok && movedCodes.includes(answer.fault.code) && answer.fault.details?.['reason'] !== 'restart_exhausted'
