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
import { storeFile } from '../blobs/store-upload.ts'
import { findSession } from '../log/find-session.ts'
import type { NodeParts } from '../node-parts.ts'
import { livingOf } from '../registry/live-owners.ts'
import type { Roster } from '../registry/session-registry.ts'
import { createRemovals } from '../removal/removals.ts'
import { createLocalHandle } from './local-session.ts'
import { searchSessions } from './search-sessions.ts'

/** The sessions of this process's store. */
export function createLocalSessions(roster: Roster): Sessions {
  const { store, isAlive, models } = roster.parts
  return {
    async start(options) {
      const runner = await roster.start(options)
      return runner.ok ? ok(createLocalHandle(roster, runner.value.id)) : runner
    },

    async open(name) {
      // One that is awake is not in the trash, and commands come in by this door one by one.
      const known = SessionId.safeParse(name)
      if (known.success && roster.awake(known.data)) return ok(createLocalHandle(roster, known.data))
      const id = await findSession(store, name)
      return id.ok ? ok(createLocalHandle(roster, id.value)) : id
    },

    async list(given = {}) {
      const options = ListOptions.safeParse(given)
      if (!options.success) return refuse(fault('bad_request', `Cannot list: ${explainIssue(options.error)}.`))
      const { limit = 50, activeFrom, activeBefore, running, ...rest } = options.data
      const { sessions: rows, next } = await store.list({
        ...rest,
        ...(activeFrom !== undefined && { activeFrom: Date.parse(activeFrom) }),
        ...(activeBefore !== undefined && { activeBefore: Date.parse(activeBefore) }),
        ...(running && { runningAt: [...(await livingNodes(roster.parts))] }),
        limit: Math.min(limit, limits.listSessionsMax),
      })
      const sessions = ownedStatus(rows, await livingOf(busyOwners(rows), store, isAlive))
      return ok({
        sessions: sessions.map((meta, index) => trashMark(roster.attended(meta), rows[index]?.trashedAt)),
        next,
      })
    },

    search: (options) => searchSessions(store, options),

    ...createRemovals(roster),

    storeFile: (bytes, options) => storeFile(roster.parts, bytes, options),

    models: async () => ok(await models.list()),

    async refreshCredentials() {
      const refreshed = await models.refresh()
      return refreshed.ok ? ok(await models.list()) : refreshed
    },

    subscribe: ({ signal } = {}) => roster.news.follow(signal),
  }
}

/** All nodes that answer. */
async function livingNodes({ store, isAlive }: NodeParts): Promise<ReadonlySet<string>> {
  const all = new Set((await store.nodes()).map(({ id }) => id))
  return livingOf(all, store, isAlive)
}
