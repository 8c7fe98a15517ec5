import {
  explainIssue,
  fault,
  ListOptions,
  limits,
  ok,
  refuse,
  SessionId,
  type Sessions,
  trashMark,
} from '@holdfast/protocol'
import { busyOwners, ownedStatus } from '../../ports/owned-status.ts'
import { storeUpload } from '../blobs/store-upload.ts'
import { findSession } from '../log/find-session.ts'
import type { NodeDeps } from '../node-deps.ts'
import { findLiveOwners } from '../registry/live-owners.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { createRemovals } from '../removal/removals.ts'
import { createLocalSession } from './local-session.ts'
import { searchSessions } from './search-sessions.ts'

/** The sessions of this process's store. */
export function createLocalSessions(registry: SessionRegistry): Sessions {
  const { store, isAlive, models } = registry.parts
  return {
    async start(options) {
      const runner = await registry.start(options)
      return runner.ok ? ok(createLocalSession(registry, runner.value.id)) : runner
    },

    async open(name) {
      // One that is awake is not in the trash, and commands come in by this door one by one.
      const known = SessionId.safeParse(name)
      if (known.success && registry.awake(known.data)) return ok(createLocalSession(registry, known.data))
      const id = await findSession(store, name)
      return id.ok ? ok(createLocalSession(registry, id.value)) : id
    },

    async list(given = {}) {
      const options = ListOptions.safeParse(given)
      if (!options.success) return refuse(fault('bad_request', `Cannot list: ${explainIssue(options.error)}.`))
      const { limit = 50, activeFrom, activeBefore, running, ...rest } = options.data
      const { sessions: rows, next } = await store.list({
        ...rest,
        ...(activeFrom !== undefined && { activeFrom: Date.parse(activeFrom) }),
        ...(activeBefore !== undefined && { activeBefore: Date.parse(activeBefore) }),
        ...(running && { runningAt: [...(await livingNodes(registry.parts))] }),
        limit: Math.min(limit, limits.listSessionsMax),
      })
      const sessions = ownedStatus(rows, await findLiveOwners(busyOwners(rows), store, isAlive))
      return ok({
        sessions: sessions.map((meta, index) => trashMark(registry.attended(meta), rows[index]?.trashedAt)),
        next,
      })
    },

    search: (options) => searchSessions(store, options),

    ...createRemovals(registry),

    storeFile: (bytes, options) => storeUpload(registry.parts, bytes, options),

    models: async () => ok(await models.list()),

    async refreshCredentials() {
      const refreshed = await models.refresh()
      return refreshed.ok ? ok(await models.list()) : refreshed
    },

    subscribe: ({ signal } = {}) => registry.news.follow(signal),
  }
}

/** All nodes that answer. */
async function livingNodes({ store, isAlive }: NodeDeps): Promise<ReadonlySet<string>> {
  const all = new Set((await store.nodes()).map(({ id }) => id))
  return findLiveOwners(all, store, isAlive)
}
