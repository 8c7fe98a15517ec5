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
  type Result,
  refuse,
  SearchOptions,
  SessionId,
  type Sessions,
  type StartOptions,
  withTrashedAt,
} from '@holdfast/protocol'
import { busyOwners, ownedStatus } from '../../ports/lease.ts'
import type { Search } from '../../ports/search.ts'
import { storeUpload } from '../blobs/store-upload.ts'
import { findByKey, findSession, withWorkspace } from '../log/find-session.ts'
import { findLiveOwners } from '../registry/ownership.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createRemovals } from '../removal/removals.ts'
import { createLocalSession, type LocalSession } from './local-session.ts'

/** The sessions of this process's store. */
export interface LocalSessions extends Sessions {
  /** Starts a session. Refused: options that cannot be used, such as bad_workdir, unknown_model, key_taken. */
  start(options: StartOptions): Promise<Result<LocalSession>>
  open(name: string): Promise<Result<LocalSession>>
  findByKey(key: string): Promise<Result<LocalSession | null>>
  latest(workspace?: string): Promise<Result<LocalSession | null>>
}

export function createLocalSessions(registry: SessionRegistry): LocalSessions {
  const sessions = createOpenSessions(registry)
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

function createOpenSessions(registry: SessionRegistry): LocalSessions {
  const { deps, stores } = registry
  const { store, isAlive, models } = deps
  const nodeIds = async () => new Set((await store.nodes()).map(({ id }) => id))
  return {
    async start(options) {
      const runner = await registry.start(options)
      return runner.ok ? ok(createLocalSession(registry, runner.value.id)) : runner
    },

    async open(name) {
      // A loaded session is not in the trash: no look-up is needed.
      const known = SessionId.safeParse(name)
      if (known.success && registry.loaded(known.data)) return ok(createLocalSession(registry, known.data))
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
      const sessions = ownedStatus(rows, await findLiveOwners(busyOwners(rows), store, isAlive))
      return ok({
        sessions: sessions.map((meta, index) => withTrashedAt(registry.withAttachments(meta), rows[index]?.trashedAt)),
        next,
      })
    },

    search: (options) => searchSessions(deps, stores, options),

    ...createRemovals(registry),

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
      yield* registry.news.follow(signal)
    },
  }
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
