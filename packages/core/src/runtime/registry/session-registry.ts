import {
  type Fault,
  fault,
  type Meta,
  notReady,
  ok,
  type Result,
  refuse,
  type SessionId,
  type StartOptions,
} from '@holdfast/protocol'
import type { Lease, NodeRow } from '../../ports/store/lease.ts'
import { createBackgroundTasks } from '../background-tasks.ts'
import type { NodeDeps } from '../dependencies.ts'
import { type LoadedSession, loadSession } from '../log/load-session.ts'
import { logDamaged } from '../log/read-window.ts'
import { refuseThrown } from '../refuse-thrown.ts'
import { openRunner, type SessionRunner } from '../runner/session-runner.ts'
import { createStorageHealth } from '../storage-health.ts'
import { createSubagents, type SubagentRegistry } from '../subagents/subagents.ts'
import { createCrashLoopGuard } from './crash-loop-guard.ts'
import { forkSession } from './fork-session.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { createMembership, type Membership, nodeSuspended } from './membership.ts'
import { createNodeNews } from './node-news.ts'
import type { Notifier } from './notifiers.ts'
import { createOwners, type Owners } from './owners.ts'
import { claimSession, createSettle, dropLost, isElsewhere, settleCrashed } from './ownership.ts'
import { type RegistryState, withAttachments } from './registry-state.ts'
import type { SessionNewsFeed } from './session-news.ts'
import { createSessionStores, type SessionStores } from './session-stores.ts'
import { createSession, startSession } from './start-session.ts'
import { closeRegistry, endBackground, forget, unload, unloadIdle } from './unload-session.ts'
import { createWatchers } from './watchers.ts'

/** The sessions that are loaded in this process. It loads others on request and unloads idle ones. */
export interface SessionRegistry {
  readonly deps: NodeDeps
  readonly stores: SessionStores
  /** What happens to the sessions of this process. */
  readonly news: SessionNewsFeed
  readonly subagents: SubagentRegistry
  /** Follows what happens to the sessions of all processes of the store. */
  followAllNews(signal?: AbortSignal): ReturnType<SessionNewsFeed['follow']>
  /** Connects to the processes that own other sessions of the store. */
  readonly owners: Owners
  /** Starts a session; `within` are the stores as its tenant sees them, `id` is chosen by a node that forwards the start. */
  start(options: StartOptions, within?: SessionStores, id?: SessionId): Promise<Result<SessionRunner>>
  /** Calls `notifier` when the session asks a question or becomes idle, until the process ends. */
  notify(id: SessionId, notifier: Notifier): void
  /** Loads the session; `early` is used if it is still current. Refused: session_not_found, session_locked, log_damaged. */
  load(id: SessionId, early?: Promise<Result<LoadedSession>>): Promise<Result<SessionRunner>>
  /** Returns the session if it is loaded here, without loading it. */
  loaded(id: SessionId): SessionRunner | null
  all(): readonly SessionRunner[]
  /** Adds the number of attached clients, which is not recorded, to the metadata. */
  withAttachments(meta: Meta): Meta
  /** Unloads the session and releases it: running calls are interrupted, and any process may load it again. */
  unload(id: SessionId): Promise<void>
  /** Runs `work` while the session cannot be loaded; loads wait until it is done. */
  runAlone<Value>(id: SessionId, work: () => Promise<Value>): Promise<Value>
  /** Gives up the loaded sessions that another process took over, as after a pause of this one. Returns how many. */
  dropLost(): Promise<number>
  /** What this node does when it loses its place in a cluster or leaves it. */
  readonly membership: Membership
  /** Settles what dead nodes left open and returns those nodes. A starting node does this once. */
  settleCrashed(): Promise<readonly NodeRow[]>
  /** Returns the refusal of a runtime that is closing or closed: session_stopped. Null before. */
  closedFault(): Fault | null
  close(): Promise<void>
}

export function createSessionRegistry(deps: NodeDeps): SessionRegistry {
  const settle = createSettle(() => settleCrashed(deps, registry))
  const parts = createRegistryState(deps, settle)
  const { stores, news, loaded, loading, unloading, mutex } = parts
  deps.models.onChanged(() => {
    for (const { runner } of loaded.values()) runner.hub.publishModel()
  })
  deps.tools.background?.onChange((id) => {
    const runner = loaded.get(id)?.runner
    if (runner) afterChange(parts, runner) // its idle timer starts when the last one has ended
  })
  const all = () => [...loaded.values()].map(({ runner }) => runner)
  const loadedRunner = (id: SessionId) => loaded.get(id)?.runner ?? null
  const handOver = (id: SessionId) => unload(parts, id, 'closing')
  const registry: SessionRegistry = {
    deps,
    stores,
    news,
    all,
    owners: parts.owners,
    subagents: parts.subagents,
    membership: createMembership(parts, { all, loaded: loadedRunner }, handOver),
    followAllNews: (signal) => parts.followAllNews(signal),
    load: load.bind(null, parts),
    withAttachments: (meta) => withAttachments(parts, meta),
    notify(id, notifier) {
      const { notifiers } = parts.watchers
      notifiers.set(id, notifier, loaded.get(id)?.runner.folded().state ?? null)
      for (const { runner } of loaded.values())
        if (runner.folded().state.origin?.subagent?.root === id) notifiers.afterChange(runner.id, runner.folded().state)
    },
    async start(options, within = stores, id) {
      if (parts.isDraining)
        return refuse(notReady('closing', 'This node is about to stop. Start the session at another.'))
      const started = await startSession(deps, within, options, id)
      return started.ok ? load(parts, started.value) : started
    },
    loaded: loadedRunner,
    unload: (id) => unload(parts, id, 'stopped'),
    runAlone: (id, work) =>
      mutex.take(id, async () => {
        await loading.get(id)
        await unloading.get(id)?.catch(() => undefined) // the caller of unload gets the error
        return work()
      }),
    dropLost: () => dropLost(deps, stores, registry),
    settleCrashed: settle,
    closedFault: () => (parts.isClosing ? closed : null),
    close: () => closeRegistry(parts),
  }
  return registry
}

const closed = fault('session_stopped', 'This runtime is closed.')

function createRegistryState(deps: NodeDeps, settle: SessionRegistry['settleCrashed']): RegistryState {
  const { store, clock } = deps
  const stores = createSessionStores(deps)
  const owners = createOwners(deps, stores)
  const { news, followAll } = createNodeNews({ ...deps, owners, settle, entry: stores.entry })
  const inBackground = createBackgroundTasks(deps.onProblem)
  const parts: RegistryState = {
    deps,
    stores,
    owners,
    inBackground,
    isClosing: false,
    isSuspended: false,
    isDraining: false,
    news,
    followAllNews: followAll,
    loaded: new Map(),
    loading: new Map(),
    unloading: new Map(),
    resting: new Map(),
    mutex: createKeyedMutex(),
    storageHealth: createStorageHealth({ store, clock, inBackground }),
    crashLoopGuard: createCrashLoopGuard(clock),
    watchers: createWatchers(deps, stores, (id) => inBackground(`unloading ${id}`, unloadIdle(parts, id))),
    subagents: createSubagents({
      deps,
      rows: stores,
      inBackground,
      storeOf: stores.storeOf,
      depsOf: stores.depsOf,
      load: (id) => load(parts, id),
      loaded: (id) => parts.loaded.get(id)?.runner ?? null,
      unload: (id, reason) => unload(parts, id, reason),
      isElsewhere: (id) => isElsewhere(deps, stores, id),
      create: (session, events) => createSession(deps, stores, { session, parent: null, base: 0, events }),
    }),
  }
  return parts
}

async function load(
  parts: RegistryState,
  id: SessionId,
  early?: Promise<Result<LoadedSession>>,
): Promise<Result<SessionRunner>> {
  const { mutex, loaded, loading } = parts
  for (let busy = mutex.free(id); busy; busy = mutex.free(id)) await busy
  if (parts.isClosing) return refuse(closed)
  if (parts.isSuspended) return refuse(nodeSuspended)
  const known = loaded.get(id)
  if (known) return ok(known.runner)
  const exhausted = parts.crashLoopGuard.refusal(id)
  if (exhausted) return refuse(exhausted)
  const pending =
    loading.get(id) ??
    open(parts, id, early)
      .catch(refuseThrown)
      .finally(() => loading.delete(id))
  loading.set(id, pending)
  return pending
}

/** Claims the session and reads it at the same time. */
async function open(
  parts: RegistryState,
  id: SessionId,
  reading = loadSession(parts.stores.storeOf(id), id),
): Promise<Result<SessionRunner>> {
  const { deps, stores, news } = parts
  const [claimed, early] = await Promise.all([claimSession(stores.depsOf(id), id), reading.catch(() => null)])
  if (!claimed.ok) return claimed
  const { lease, takenFrom } = claimed.value
  const runner = await createRunner(parts, id, lease, early)
  if (!runner.ok) {
    // The release may fail for the same reason; as its owner we can claim the session again.
    await stores
      .storeOf(id)
      .release(id, deps.node.id, lease.epoch)
      .catch((cause) => deps.onProblem({ where: `releasing ${id}`, cause }))
    return runner
  }
  parts.loaded.set(id, { runner: runner.value, lease })
  parts.resting.delete(id)
  const cause = `The process ${takenFrom} died.`
  if (takenFrom !== null) news.publish({ type: 'session.stopped', session: id, reason: 'crashed', cause })
  news.publish({ type: 'session.started', session: withAttachments(parts, runner.value.folded().row.entry.meta) })
  afterChange(parts, runner.value)
  parts.subagents.afterLoad(runner.value)
  return runner
}

async function createRunner(
  parts: RegistryState,
  id: SessionId,
  { epoch, head }: Lease,
  early: Result<LoadedSession> | null,
): Promise<Result<SessionRunner>> {
  const { deps, stores, storageHealth, news } = parts
  // A load that ran beside the claim is valid if it ends at the claimed head: records never change.
  const session = early?.ok && early.value.state.seq === head ? early : await loadSession(stores.storeOf(id), id)
  if (!session.ok) return session
  const { lost } = session.value
  if (lost.length > 0) return refuse(logDamaged(id, lost))
  return openRunner({
    id,
    epoch,
    storageHealth,
    deps: stores.depsOf(id),
    loaded: session.value,
    subagents: parts.subagents,
    onRecords: (state, records) => parts.subagents.afterRecords(id, state, records),
    fork: (from, seq) => forkSession(deps, stores, id, from, seq),
    onChange: publishChange.bind(null, parts, id),
    onAbandoned: ({ code, message }) => {
      const now = parts.loaded.get(id)
      if (now && now.lease.epoch !== epoch) return // it was loaded again while this runner was being stopped
      forget(parts, id)
      parts.subagents.afterGone(id, false)
      if (code === 'internal') restart(parts, id, message)
      // An append that looked refused had reached the log: load the session again from there.
      if (code === 'log_moved' && !parts.isClosing) parts.inBackground(`loading ${id} again`, load(parts, id))
      if (code === 'fenced')
        news.publish({ type: 'session.stopped', session: id, reason: 'taken_over', cause: message })
      if (code !== 'internal' && code !== 'log_moved')
        parts.inBackground(`ending the commands of ${id}`, endBackground(deps, id))
    },
  })
}

function publishChange(parts: RegistryState, id: SessionId): void {
  const runner = parts.loaded.get(id)?.runner
  if (!runner) return
  afterChange(parts, runner)
  parts.news.publish({ type: 'session.changed', session: withAttachments(parts, runner.folded().row.entry.meta) })
}

function afterChange({ watchers, subagents }: RegistryState, runner: SessionRunner): void {
  watchers.afterChange(runner)
  subagents.afterChange(runner)
}

/** Restarts a crashed session from its log, unless it keeps crashing. */
function restart(parts: RegistryState, id: SessionId, cause: string): void {
  const mayRestart = parts.crashLoopGuard.note(id, cause) && !parts.isClosing
  const reason = mayRestart ? 'crashed' : 'restart_exhausted'
  parts.news.publish({ type: 'session.stopped', session: id, reason, cause })
  if (mayRestart) parts.inBackground(`loading ${id} again`, load(parts, id))
}
