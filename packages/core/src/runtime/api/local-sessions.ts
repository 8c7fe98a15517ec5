import {
  type FoundMessages,
  HoldfastError,
  ListOptions,
  limits,
  NewsOptions,
  ok,
  orThrow,
  parseFolder,
  parseOptions,
  type Removal,
  type Result,
  refuse,
  SearchOptions,
  SessionId,
  type Sessions,
  type StartOptions,
  withTrashedAt,
} from '@holdfast/protocol'
import { busyOwners, type Owned, ownedStatus } from '../../ports/store/lease.ts'
import type { Search } from '../../ports/store/search.ts'
import { storeUpload } from '../blobs/store-upload.ts'
import { findByKey, findSession, withWorkspace } from '../log/find-session.ts'
import { hasMoved } from '../registry/owners.ts'
import { findLiveOwners } from '../registry/ownership.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { clientNews, tenantStores } from '../registry/tenant-stores.ts'
import { createRemovals } from '../removal/removals.ts'
import { showWaiting } from '../subagents/waiting-children.ts'
import { createLocalSession } from './local-session.ts'
import type { LocalSession } from './own-session.ts'
import { noSignal } from './relocation.ts'
import { startElsewhere } from './start-elsewhere.ts'

/** The sessions of this process's store. */
export interface LocalSessions extends Sessions {
  /** Starts a session. Refused: options that cannot be used, such as bad_workdir, unknown_model, key_taken. */
  start(options: StartOptions): Promise<Result<LocalSession>>
  open(name: string): Promise<Result<LocalSession>>
  findByKey(key: string): Promise<Result<LocalSession | null>>
  latest(workspace?: string): Promise<Result<LocalSession | null>>
}

/** Creates the interface to all sessions; with a tenant, to its sessions only, as if there were no others. */
export function createLocalSessions(registry: SessionRegistry, tenant?: string): LocalSessions {
  const sessions = createOpenSessions(registry, tenant)
  const names = Object.keys(sessions) as (keyof LocalSessions)[]
  const refuseClosed = (name: keyof LocalSessions) => {
    if (name === 'subscribe') return sessions.subscribe // ends by itself
    const method = sessions[name] as (...given: readonly unknown[]) => Promise<Result<unknown>>
    return async (...given: readonly unknown[]) => {
      const closed = registry.closedFault()
      return closed ? refuse(closed) : method(...given)
    }
  }
  const guarded: Partial<LocalSessions> = Object.fromEntries(names.map((name) => [name, refuseClosed(name)]))
  return guarded as LocalSessions // has all its methods
}

function createOpenSessions(registry: SessionRegistry, tenant: string | undefined): LocalSessions {
  const { deps } = registry
  const stores = tenant === undefined ? registry.stores : tenantStores(registry.stores, tenant)
  const seen: SessionRegistry = tenant === undefined ? registry : { ...registry, stores }
  const { store, isAlive, models } = deps
  const nodeIds = async () => new Set((await store.nodes()).map(({ id }) => id))
  return {
    async start(options) {
      const runner = await registry.start(options, stores)
      if (runner.ok) return ok(createLocalSession(registry, runner.value.id))
      const there = await startElsewhere(registry, options, tenant, runner.fault)
      if (there === null) return runner
      return there.ok ? ok(createLocalSession(registry, there.value)) : there
    },

    async open(name) {
      // A loaded session is not in the trash: no look-up is needed.
      const known = SessionId.safeParse(name)
      if (tenant === undefined && known.success && registry.loaded(known.data))
        return ok(createLocalSession(registry, known.data))
      const id = await findSession(stores, name)
      return id.ok ? ok(createLocalSession(registry, id.value)) : id
    },

    async findByKey(key) {
      const id = await findByKey(stores, key)
      return id.ok ? ok(id.value && createLocalSession(registry, id.value)) : id
    },

    async latest(given = '.') {
      const folder = parseFolder(given)
      if (!folder.ok) return folder
      const workdir = await deps.resolveWorkdir(folder.value)
      if (!workdir.ok) return workdir
      const [newest] = await stores.find({ type: 'latest', workspace: workdir.value }) // not the first of a list, which starts with pinned sessions
      return ok(newest ? createLocalSession(registry, newest) : null)
    },

    async stop(name) {
      const id = await findSession(stores, name)
      if (!id.ok) return id
      const owner = registry.loaded(id.value) ? null : await registry.owners.find(id.value)
      const stopped = await owner?.call({ session: id.value, method: 'stop', args: [] }, noSignal)
      if (stopped?.ok === false && !hasMoved(stopped)) return stopped
      await registry.unload(id.value)
      return ok(null)
    },

    async list(given = {}) {
      const options = parseOptions(ListOptions, given, 'list')
      if (!options.ok) return options
      const { limit = 50, activeFrom, activeBefore, running, ...rest } = await withWorkspace(deps, options.value)
      const { sessions: rows, next } = await stores.list({
        ...rest,
        ...(activeFrom !== undefined && { activeFrom: Date.parse(activeFrom) }),
        ...(activeBefore !== undefined && { activeBefore: Date.parse(activeBefore) }),
        ...(running && { runningAt: [...(await findLiveOwners(await nodeIds(), store, isAlive))] }),
        limit: Math.min(limit, limits.listSessionsMax),
      })
      const [alive, attached] = await Promise.all([
        findLiveOwners(busyOwners(rows), store, isAlive),
        countAttached(registry, rows),
      ])
      const sessions = (await showWaiting(stores, ownedStatus(rows, alive))).map((meta, index) => {
        const attachments = attached.get(meta.id)
        const complete = attachments === undefined ? registry.withAttachments(meta) : { ...meta, attachments }
        return withTrashedAt(complete, rows[index]?.trashedAt)
      })
      return ok({ sessions, next })
    },

    search: (options) => searchSessions(deps, stores, options),

    ...forwardRemovals(registry, createRemovals(seen)),

    storeFile: (bytes, options) => storeUpload(deps, bytes, options),

    models: async () => ok(await models.list()),

    async refreshCredentials() {
      const refreshed = await models.refresh()
      return refreshed.ok ? ok(await models.list()) : refreshed
    },

    async *subscribe(given = {}) {
      const { signal } = orThrow(parseOptions(NewsOptions, given, 'subscribe')) // it cannot return a refusal
      const closed = registry.closedFault()
      if (closed) throw new HoldfastError(closed)
      yield* clientNews(registry.followAllNews(signal), stores, tenant)
    },
  }
}

/** Counts the attached clients of sessions that other processes run. One that does not answer counts none. */
async function countAttached(
  { owners, deps }: SessionRegistry,
  rows: readonly Owned[],
): Promise<ReadonlyMap<SessionId, number>> {
  const byOwner = new Map(rows.flatMap(({ owner, meta }) => (owner === null ? [] : [[owner, meta.id] as const])))
  byOwner.delete(deps.node.id)
  const counts = await Promise.all(
    [...byOwner].map(async ([node, session]) => {
      const owner = await owners.reach(node)
      const answer = await owner?.call({ session, method: 'attached', args: [] }, noSignal)
      return answer?.ok ? (answer.value as [SessionId, number][]) : [] // as the method there returns it
    }),
  )
  return new Map(counts.flat())
}

type Removals = ReturnType<typeof createRemovals>

/** Lets the owner of a session delete it, if that is another process. */
function forwardRemovals(registry: SessionRegistry, removals: Removals): Removals {
  const forward =
    (method: 'delete' | 'purge'): Removals['delete'] =>
    async (name, options) => {
      const removed = await removals[method](name, options)
      if (removed.ok || removed.fault.code !== 'session_locked') return removed
      const { session, node } = removed.fault.details ?? {}
      const id = SessionId.safeParse(session)
      const owner = id.success ? await registry.owners.reach(node) : null
      if (!id.success || !owner) return removed
      const answer = await owner.call({ session: id.data, method, args: [options ?? {}] }, noSignal)
      return hasMoved(answer) ? removed : (answer as Result<Removal>) // of the same method there
    }
  return { ...removals, delete: forward('delete'), purge: forward('purge') }
}

const toInstant = (time: string): string => new Date(time).toISOString()

/** Finds messages by their words, in the form that every interface returns. */
async function searchSessions(
  deps: SessionRegistry['deps'],
  store: Search,
  given: SearchOptions,
): Promise<Result<FoundMessages>> {
  const options = parseOptions(SearchOptions, given, 'search')
  if (!options.ok) return options
  const { limit = 20, since, until, ...rest } = await withWorkspace(deps, options.value)
  const found = await store.search({
    ...rest,
    ...(since !== undefined && { since: toInstant(since) }),
    ...(until !== undefined && { until: toInstant(until) }),
    limit: Math.min(limit, limits.searchHitsMax),
  })
  if (!found.ok) return found
  const hits = found.value.hits.map(({ session, title, message, role, at, snippet }) => {
    return { sessionId: session, title, messageId: message, kind: role, at, snippet }
  })
  const { next, isIndexing } = found.value
  return ok({ hits, next, ...(isIndexing && { isIndexing }) })
}
