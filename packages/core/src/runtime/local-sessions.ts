import { explainIssue, fault, ListOptions, limits, ok, refuse, type Sessions } from '@holdfast/protocol'
import { busyOwners, ownedStatus } from '../ports/owned-status.ts'
import { findSession } from './find-session.ts'
import { livingOf } from './living-of.ts'
import { createLocalHandle } from './local-handle.ts'
import type { Roster } from './roster.ts'
import { storeFile } from './store-file.ts'

/** The sessions of this process's store. */
export function createLocalSessions(roster: Roster): Sessions {
  const { store, isAlive } = roster.parts
  return {
    async start(options) {
      const runner = await roster.start(options)
      return runner.ok ? ok(createLocalHandle(roster, runner.value.id)) : runner
    },

    async open(name) {
      const id = await findSession(store, name)
      return id.ok ? ok(createLocalHandle(roster, id.value)) : id
    },

    async list(given = {}) {
      const options = ListOptions.safeParse(given)
      if (!options.success) return refuse(fault('bad_request', `Cannot list: ${explainIssue(options.error)}.`))
      const { limit = 50, ...rest } = options.data
      const { sessions: rows, next } = await store.list({ ...rest, limit: Math.min(limit, limits.listSessionsMax) })
      const sessions = ownedStatus(rows, await livingOf(busyOwners(rows), store, isAlive))
      return ok({ sessions: sessions.map(roster.attended), next })
    },

    storeFile: (bytes, options) => storeFile(roster.parts, bytes, options),

    subscribe: ({ signal } = {}) => roster.news.follow(signal),
  }
}
