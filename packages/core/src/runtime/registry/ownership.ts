import { type FaultCode, fault, ok, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { Lease, Leases, NodeRow } from '../../ports/store/lease.ts'
import { isAtWork } from '../../session/state.ts'
import type { NodeDeps } from '../dependencies.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SessionStores } from './session-stores.ts'

type Claimed = {
  readonly lease: Lease
  /** The dead node that owned it; null when it was free. */
  readonly takenFrom: string | null
}

/** Claims the right to append to a session that is free or whose owner no longer answers. */
export async function claimSession(
  { store, node, isAlive }: Pick<NodeDeps, 'store' | 'node' | 'isAlive'>,
  id: SessionId,
): Promise<Result<Claimed>> {
  const claim = async (takenFrom: string | null): Promise<Result<Claimed>> => {
    const lease = await store.claim(id, node.id, takenFrom)
    return lease.ok ? ok({ lease: lease.value, takenFrom }) : lease
  }
  const free = await claim(null)
  if (free.ok || free.fault.code !== 'session_locked') return free
  const owner = free.fault.details?.['node']
  if (typeof owner !== 'string') return free
  const row = (await store.nodes()).find((one) => one.id === owner)
  if (row && (await isAlive(row))) {
    const message = `Session ${id} is open in another process (${owner}). Use that one, or end it first.`
    return refuse(fault('session_locked', message, { node: owner, since: row.startedAt }))
  }
  return claim(owner)
}

/** Another node took the session over meanwhile, or has to. */
const notHere: readonly FaultCode[] = ['session_locked', 'workdir_elsewhere']

/** Settles sessions that dead nodes left busy, removes unspoken ones, and returns the dead nodes. */
export async function settleCrashed(
  { store, node, isAlive, forgetNode, onProblem }: NodeDeps,
  { load, unload }: Pick<SessionRegistry, 'load' | 'unload'>,
): Promise<readonly NodeRow[]> {
  const busy = await store.busy() // read before the nodes: a live owner of one of these has registered by now
  const others = (await store.nodes()).filter(({ id }) => id !== node.id)
  const answers = await Promise.all(others.map(isAlive))
  const gone = others.filter((_, index) => !answers[index])
  const dead = gone.map(({ id }) => id)
  const alive = new Set([node.id, ...others.flatMap(({ id }, index) => (answers[index] ? [id] : []))])
  for (const { session, owner } of busy) {
    // An unknown owner counts as dead: a catalogue may be behind its nodes.
    if (owner !== null && alive.has(owner)) continue
    const where = `settling ${session}`
    // A session that cannot be settled must not keep the node from starting.
    try {
      const loaded = await load(session)
      // A session with a question that can expire stays loaded: its timer must run.
      if (loaded.ok && !isAtWork(loaded.value.folded().state)) await unload(session)
      if (loaded.ok) continue
      if (!notHere.includes(loaded.fault.code)) onProblem({ where, cause: loaded.fault })
    } catch (cause) {
      onProblem({ where, cause })
    }
  }
  await store.removeUnspoken(dead)
  for (const row of gone) {
    await store.removeNode(row.id, 'ended')
    await forgetNode?.(row)
  }
  return gone
}

/** Runs one settling at a time: who asks meanwhile gets its result. */
export function createSettle(settle: () => Promise<readonly NodeRow[]>): () => Promise<readonly NodeRow[]> {
  let settling: Promise<readonly NodeRow[]> | null = null
  return () => {
    settling ??= settle().finally(() => {
      settling = null
    })
    return settling
  }
}

/** Asks the store who owns each loaded session: a paused process learns here what it missed. Returns how many it lost. */
export async function dropLost(
  { node }: Pick<NodeDeps, 'node'>,
  { entry }: Pick<SessionStores, 'entry'>,
  { all, loaded }: Pick<SessionRegistry, 'all' | 'loaded'>,
): Promise<number> {
  const lost = await Promise.all(
    all().map(async (runner) => {
      const row = await entry(runner.id)
      if (row === null || row.owner === node.id || loaded(runner.id) !== runner) return false
      await runner.lose()
      return true
    }),
  )
  return lost.filter(Boolean).length
}

/** Returns whether another live node owns a session. */
export async function isElsewhere(
  { node, store, isAlive }: Pick<NodeDeps, 'node' | 'store' | 'isAlive'>,
  { entry }: Pick<SessionStores, 'entry'>,
  id: SessionId,
): Promise<boolean> {
  const owner = (await entry(id))?.owner ?? null
  return owner !== null && owner !== node.id && (await findLiveOwners(new Set([owner]), store, isAlive)).size > 0
}

/** Returns those of `owners` that still answer. Without owners, no node is looked up. */
export async function findLiveOwners(
  owners: ReadonlySet<string>,
  { nodes }: Pick<Leases, 'nodes'>,
  isAlive: (node: NodeRow) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  if (owners.size === 0) return owners
  const asked = (await nodes()).filter(({ id }) => owners.has(id))
  const answers = await Promise.all(asked.map(isAlive))
  return new Set(asked.flatMap(({ id }, index) => (answers[index] ? [id] : [])))
}
