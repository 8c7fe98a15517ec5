import { createLocalSession, createRecentRecords, createSessionRegistry, type SessionRegistry } from '@holdfast/core'
import type { Blobs } from '@holdfast/core/ports'
import { HoldfastError, InvariantViolation, ok, SessionId } from '@holdfast/protocol'
import { fakeFiles, fakePermissions } from '@holdfast/testkit'
import { startTermKeeper } from '../../../packages/holdfast/src/nodes/cluster/term-keeper.ts'
import { createModels, createTools } from './agent.ts'
import { type Connection, createConnection } from './connection.ts'
import { createDatabaseStore } from './database-store.ts'
import { createSimProcess, type SimProcess } from './sim-process.ts'
import type { SimulatedDatabase } from './simulated-database.ts'
import type { World } from './world.ts'

/** A node of the cluster: the real runtime and the real keeper of its term, in a simulated process. */
export type SimNode = {
  readonly id: string
  readonly process: SimProcess
  readonly connection: Connection
  readonly registry: SessionRegistry
  session(id: SessionId): ReturnType<typeof createLocalSession>
  /** Hands the sessions over and stops. */
  drain(): Promise<void>
}

const sweepMs = 2000
const drainMs = 3000

/** Starts a node: it joins, settles what dead nodes left, and renews its term. */
export function startSimNode(world: World, blobs: Blobs, id: string): SimNode {
  const { clock, dice, database, network } = world
  const process = createSimProcess(clock, dice.pick([0, 0, -7_200_000, 7_200_000]) ?? 0)
  const connection = createConnection({ clock, dice, transact: database.transact }, process)
  const { keeper, join, attachTo } = startTerm(world, { id, process, connection })
  const store = createDatabaseStore(database, connection, id)
  const parts = { process, dice, node: id }
  let named = 0
  const registry = createSessionRegistry({
    store,
    memoryStore: store,
    blobs,
    memoryBlobs: blobs,
    recent: createRecentRecords(),
    images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
    models: createModels(parts),
    tools: createTools(parts, {
      begins: database.audit.begins,
      acts: (nonce, session) => checkActing(world, { id, process }, nonce, session),
    }),
    instructions: { gather: async () => 'Be kind.', list: async () => [] },
    files: fakeFiles,
    permissions: fakePermissions,
    summaryFiles: { save: async () => ok('note.md') },
    clock: process.clock,
    onProblem({ where, cause }) {
      if (cause instanceof InvariantViolation) database.audit.violations.push(`${id}, ${where}: ${cause.message}`)
    },
    node: { id, address: id, startedAt: '' },
    // Its answer may be old by the time it is used: the database has to check again.
    isAlive: async (row) => !dice.chance(1, 20) && isAlive(store, row.id),
    reach: network.reachFrom(id),
    cluster: {
      place: (session, here) => connection.ask(() => database.cluster.place(session, here)),
      serving: async () => [],
      async *changes() {},
    },
    newSessionId: () => world.newSessionId(),
    newHandle: () => `calm-harbor-${id.replaceAll(/\D/g, '')}${++named}`,
    resolveWorkdir: async (path) => ok(path),
  })
  attachTo(registry)
  network.add(id, { process, registry })
  join()
    .then(() => registry.settleCrashed())
    .catch((cause) => reportUnexpected(database, id, cause))
  const endSweeps = every(process, sweepMs, () => sweep(registry, database, id))
  return {
    id,
    process,
    connection,
    registry,
    session: (session) => createLocalSession(registry, session),
    async drain() {
      const late = new AbortController()
      process.clock.after(drainMs, () => late.abort())
      await connection.ask(() => database.cluster.drain(id)).catch(() => undefined) // it may not answer: then it stops anyway
      await registry.membership.drain(late.signal)
      endSweeps()
      await registry.close().catch(() => undefined) // the same
      keeper.close()
      process.kill()
    },
  }
}

type NodeParts = Pick<SimNode, 'id' | 'process' | 'connection'>

/** Starts the keeper of a node's term. A broken node ignores that its term ends. */
function startTerm({ database, clock, defect }: World, { id, process, connection }: NodeParts) {
  let registry: SessionRegistry | null = null
  const { cluster } = database
  const row = { id, address: id, startedAt: '', key: id, serves: [] }
  const join = () => connection.ask(() => cluster.join(row))
  const keeper = startTermKeeper({
    cluster: { termMs: cluster.termMs, renew: (node) => connection.ask(() => cluster.renew(node)) },
    id,
    onEnding: () => (defect === 'a node works on after its term' ? undefined : registry?.membership.suspend()),
    onKept: async () => registry?.membership.resume(),
    onEnded: async () => registry?.closedFault() ?? join(),
    onProblem: (cause) => reportUnexpected(database, id, cause),
    now: clock.now,
    every: (intervalMs, call) => every(process, intervalMs, call),
  })
  const attachTo = (made: SessionRegistry) => {
    registry = made
  }
  return { keeper, join, attachTo }
}

/** Checks that a node acts only within its term. One that was paused is excused until its next term begins. */
function checkActing(
  { database }: World,
  { id, process }: Pick<SimNode, 'id' | 'process'>,
  nonce: string,
  session: string,
): void {
  if (process.wokeAtMs > 0 && database.termBeganMs(id) <= process.wokeAtMs) return
  const owner = database.ownerOf(SessionId.parse(session))
  if (!database.isLive(id)) database.audit.violations.push(`${nonce} acts at ${id} after its term`)
  if (owner !== id) database.audit.violations.push(`${nonce} acts at ${id}, and ${owner} owns its session`)
}

/** While the database does not answer, no node counts as dead. */
const isAlive = async (store: Pick<ReturnType<typeof createDatabaseStore>, 'nodes'>, id: string): Promise<boolean> => {
  const nodes = await store.nodes().catch(() => null)
  return nodes === null || nodes.some((one) => one.id === id && one.isLive === true)
}

function sweep(registry: SessionRegistry, database: SimulatedDatabase, id: string): void {
  if (registry.closedFault() || registry.membership.isDraining()) return
  registry.settleCrashed().catch((cause) => reportUnexpected(database, id, cause))
}

function every({ clock }: SimProcess, intervalMs: number, call: () => void): () => void {
  let cancel: () => void = () => undefined
  const schedule = () => {
    cancel = clock.after(intervalMs, () => {
      schedule()
      call()
    })
  }
  schedule()
  return () => cancel()
}

/** An outage is expected; anything else is our bug. */
function reportUnexpected({ audit }: SimulatedDatabase, id: string, cause: unknown): void {
  if (cause instanceof HoldfastError && cause.code === 'storage_error') return
  audit.violations.push(`${id}: ${cause}`)
}
