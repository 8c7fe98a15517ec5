import {
  fault,
  limits,
  type Meta,
  ok,
  type Result,
  refuse,
  type SessionId,
  type StartOptions,
} from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { Lease, NodeRow } from '../../ports/lease.ts'
import { createBackgroundTasks } from '../background-tasks.ts'
import type { NodeDeps } from '../dependencies.ts'
import { type LoadedSession, loadSession } from '../log/load-session.ts'
import { logDamaged } from '../log/read-window.ts'
import { openRunner, type SessionRunner } from '../runner/session-runner.ts'
import { createStorageHealth } from '../storage-health.ts'
import { createAutoTitle } from './auto-title.ts'
import { createCrashLoopGuard } from './crash-loop-guard.ts'
import { forkSession } from './fork-session.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { claimSession, settleCrashed } from './ownership.ts'
import { createNotifiers, createSessionNewsFeed, type Notifier, type SessionNewsFeed } from './session-news.ts'
import { createSessionStores, type SessionStores } from './session-stores.ts'
import { startSession } from './start-session.ts'

/** The sessions that are loaded in this process. It loads others on request and unloads idle ones. */
export interface SessionRegistry {
  readonly deps: NodeDeps
  readonly stores: SessionStores
  /** What happens to the sessions of this process. */
  readonly news: SessionNewsFeed
  start(options: StartOptions): Promise<Result<SessionRunner>>
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
  /** Settles what dead nodes left open and returns those nodes. A starting node does this once. */
  settleCrashed(): Promise<readonly NodeRow[]>
  close(): Promise<void>
}

type LoadedRunner = { readonly runner: SessionRunner; readonly lease: Lease }

export function createSessionRegistry(deps: NodeDeps): SessionRegistry {
  const { store, node, clock, idleUnloadMs = limits.idleUnloadMs } = deps
  const stores = createSessionStores(deps)
  const loaded = new Map<SessionId, LoadedRunner>()
  deps.models.onChanged(() => {
    for (const { runner } of loaded.values()) runner.hub.publishModel()
  })
  const loading = new Map<SessionId, Promise<Result<SessionRunner>>>()
  const unloading = new Map<SessionId, Promise<void>>()
  const mutex = createKeyedMutex<SessionId>()
  const inBackground = createBackgroundTasks(deps.onProblem)
  const storageHealth = createStorageHealth({ store, clock, inBackground })
  const idleUnloader = createIdleUnloader(clock, idleUnloadMs, (id) =>
    inBackground(`unloading ${id}`, unload(id, 'stopped')),
  )
  const news = createSessionNewsFeed()
  const notifiers = createNotifiers(deps.onProblem)
  const autoTitle = deps.titleModel === undefined ? null : createAutoTitle(deps, stores.storeOf, deps.titleModel)
  const crashLoopGuard = createCrashLoopGuard(clock)
  let isClosing = false

  async function open(id: SessionId, loading = loadSession(stores.storeOf(id), id)): Promise<Result<SessionRunner>> {
    const [claimed, early] = await Promise.all([claimSession(stores.depsOf(id), id), loading.catch(() => null)])
    if (!claimed.ok) return claimed
    const { lease, takenFrom } = claimed.value
    const runner = await runnerFor(id, lease, early)
    if (!runner.ok) {
      // The release may fail for the same reason; as its owner we can claim the session again.
      await stores
        .storeOf(id)
        .release(id, node.id, lease.epoch)
        .catch((cause) => deps.onProblem({ where: `releasing ${id}`, cause }))
      return runner
    }
    loaded.set(id, { runner: runner.value, lease })
    const cause = `The process ${takenFrom} died.`
    if (takenFrom !== null) news.publish({ type: 'session.stopped', session: id, reason: 'crashed', cause })
    news.publish({ type: 'session.started', session: withAttachments(runner.value.folded().row.entry.meta) })
    afterChange(runner.value)
    return runner
  }

  function afterChange(runner: SessionRunner): void {
    idleUnloader.afterChange(runner)
    notifiers.afterChange(runner.id, runner.folded().state)
    autoTitle?.afterChange(runner)
  }

  const withAttachments = (meta: Meta): Meta => ({
    ...meta,
    attachments: loaded.get(meta.id)?.runner.hub.attached ?? 0,
  })

  async function runnerFor(
    id: SessionId,
    { epoch, head }: Lease,
    early: Result<LoadedSession> | null,
  ): Promise<Result<SessionRunner>> {
    // A load that ran beside the claim is valid if it ends at the claimed head: records never change.
    const session = early?.ok && early.value.state.seq === head ? early : await loadSession(stores.storeOf(id), id)
    if (!session.ok) return session
    const { lost } = session.value
    if (lost.length > 0) return refuse(logDamaged(id, lost))
    return openRunner({
      id,
      epoch,
      deps: stores.depsOf(id),
      loaded: session.value,
      storageHealth,
      fork: (from, seq) => forkSession(deps, stores, id, from, seq),
      onChange: () => {
        const one = loaded.get(id)
        if (!one) return
        afterChange(one.runner)
        news.publish({ type: 'session.changed', session: withAttachments(one.runner.folded().row.entry.meta) })
      },
      onAbandoned: ({ code, message }) => {
        forget(id)
        if (code === 'internal') restart(id, message)
        // An append that looked refused had reached the log: load the session again from there.
        if (code === 'log_moved' && !isClosing) inBackground(`loading ${id} again`, load(id))
      },
    })
  }

  /** Restarts a crashed session from its log, unless it keeps crashing. */
  function restart(id: SessionId, cause: string): void {
    const mayRestart = crashLoopGuard.note(id, cause) && !isClosing
    news.publish({ type: 'session.stopped', session: id, reason: mayRestart ? 'crashed' : 'restart_exhausted', cause })
    if (mayRestart) inBackground(`loading ${id} again`, load(id))
  }

  function forget(id: SessionId): void {
    idleUnloader.forget(id)
    loaded.delete(id)
  }

  async function unload(id: SessionId, reason: 'stopped' | 'closing'): Promise<void> {
    const one = loaded.get(id)
    if (!one) return unloading.get(id)
    forget(id)
    const left = release(id, one, reason)
    unloading.set(id, left)
    return left.finally(() => unloading.get(id) === left && unloading.delete(id))
  }

  async function release(id: SessionId, one: LoadedRunner, reason: 'stopped' | 'closing'): Promise<void> {
    const own = stores.storeOf(id)
    await one.runner.stop(reason)
    news.publish({ type: 'session.stopped', session: id, reason })
    await own.release(id, node.id, one.lease.epoch)
    if (!one.runner.folded().row.entry.spoken) await own.removeUnspoken([])
  }

  async function load(id: SessionId, early?: Promise<Result<LoadedSession>>): Promise<Result<SessionRunner>> {
    for (let busy = mutex.free(id); busy; busy = mutex.free(id)) await busy
    if (isClosing) return refuse(fault('session_stopped', 'This process is closing.'))
    const known = loaded.get(id)
    if (known) return ok(known.runner)
    const exhausted = crashLoopGuard.refusal(id)
    if (exhausted) return refuse(exhausted)
    const pending = loading.get(id) ?? open(id, early).finally(() => loading.delete(id))
    loading.set(id, pending)
    return pending
  }

  const registry: SessionRegistry = {
    deps,
    stores,
    news,
    load: load,
    withAttachments,
    notify: (id, notifier) => notifiers.set(id, notifier, loaded.get(id)?.runner.folded().state ?? null),
    async start(options) {
      const started = await startSession(deps, stores, options)
      return started.ok ? load(started.value) : started
    },
    loaded: (id) => loaded.get(id)?.runner ?? null,
    all: () => [...loaded.values()].map(({ runner }) => runner),
    unload: (id) => unload(id, 'stopped'),
    runAlone: (id, work) =>
      mutex.take(id, async () => {
        await loading.get(id)
        await unloading.get(id)?.catch(() => undefined) // the caller of unload gets the error
        return work()
      }),
    settleCrashed: () => settleCrashed(deps, registry),

    async close() {
      isClosing = true
      await Promise.allSettled(loading.values()) // the caller of load gets the error
      // One that cannot be released must not stop the others: its lease passes on once this node is gone.
      const leave = (id: SessionId) =>
        unload(id, 'closing').catch((cause) => deps.onProblem({ where: `unloading ${id}`, cause }))
      await Promise.all([...loaded.keys()].map(leave))
      await Promise.allSettled(unloading.values())
      await autoTitle?.close()
      await store.removeUnspoken([node.id])
      await store.removeNode(node.id)
    },
  }
  return registry
}

/** Unloads sessions that are idle and have no subscriber. */
function createIdleUnloader(clock: Clock, idleMs: number, unload: (id: SessionId) => void) {
  const cancels = new Map<SessionId, () => void>()
  const forget = (id: SessionId) => {
    cancels.get(id)?.()
    cancels.delete(id)
  }
  return {
    /** Restarts the session's idle timer, or cancels it while the session is in use. */
    afterChange(runner: SessionRunner): void {
      const { id } = runner
      forget(id)
      if (!isIdle(runner)) return
      const cancel = clock.after(idleMs, () => {
        cancels.delete(id)
        if (isIdle(runner)) unload(id)
      })
      cancels.set(id, cancel)
    },
    forget,
  }
}

function isIdle({ hub, folded, isWriting }: SessionRunner): boolean {
  const { turn, queue } = folded().state
  return hub.size === 0 && !isWriting() && turn.phase === 'idle' && queue.length === 0
}
