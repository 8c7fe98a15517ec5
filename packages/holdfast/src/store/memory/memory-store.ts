import { done, ok, refuse, type SessionId } from '@holdfast/protocol'
import type { PlacedStore } from '../list-cursor.ts'
import * as faults from '../store-faults.ts'
import { findSessions, listSessions } from './memory-catalogue.ts'
import { searchSessions } from './memory-search.ts'
import { createBlobUses, decodeRecords, listBlobs, type MemorySession, readRange, readRefs } from './memory-session.ts'
import { createMemoryTrusts } from './memory-trusts.ts'

/** A store that forgets: the same contract, in process. What is kept is copied, so that nobody holds the log itself. */
export function createMemoryStore(): PlacedStore {
  const sessions = new Map<SessionId, MemorySession>()
  let born = 0
  const nodes = new Map<string, Parameters<PlacedStore['registerNode']>[0]>()
  const trusts = createMemoryTrusts()
  const all = (): readonly MemorySession[] => [...sessions.values()]
  const notFound = (session: SessionId) => refuse(faults.sessionNotFound(session))
  const fenced = (held: MemorySession, epoch: number) => refuse(faults.fenced(held.id, epoch, held.epoch))

  return {
    async create({ session, parent, base, owner, records, entry, blobs }) {
      const { handle, key } = entry.meta
      if (sessions.has(session)) return refuse(faults.sessionExists(session))
      const sameHandle = all().find((other) => other.entry.meta.handle === handle)
      if (sameHandle !== undefined) return refuse(faults.handleTaken(handle, sameHandle.id))
      const sameKey = key === undefined ? undefined : all().find((other) => other.entry.meta.key === key)
      if (key !== undefined && sameKey !== undefined) return refuse(faults.keyTaken(key, sameKey.id))
      const from = parent === null ? null : sessions.get(parent)
      if (from === undefined || (from !== null && from.head < base)) return notFound(parent ?? session)

      born += 1
      sessions.set(session, {
        ...{ id: session, order: born, parent: from, base, head: base + records.length },
        ...{ epoch: 1, owner, entry: structuredClone(entry), records: decodeRecords(records, base) },
        ...{ draft: null, snapshot: null, trashedAt: null, blobs: createBlobUses(base + 1, blobs) },
      })
      return done
    },

    async append({ session, after, epoch, records, entry, clearDraft, blobs, trust }) {
      const held = sessions.get(session)
      if (held === undefined) return notFound(session)
      if (held.epoch !== epoch) return fenced(held, epoch)
      const ids = new Set(records.map(({ record }) => record.commandId))
      const seen = held.records.find(({ commandId }) => commandId !== undefined && ids.has(commandId))
      if (seen !== undefined) return refuse(faults.commandSeen(seen.seq))
      if (held.head !== after) return refuse(faults.logMoved(session, after, held.head))
      held.records.push(...decodeRecords(records, after))
      held.head += records.length
      held.entry = structuredClone(entry)
      held.blobs.push(...createBlobUses(after + 1, blobs))
      if (clearDraft) held.draft = null
      for (const change of trust) trusts.apply(entry.meta.workspace, change)
      return done
    },

    read: async (session, range) => readRange(sessions.get(session), range),
    readRefs: async (session, calls) => readRefs(sessions.get(session), calls),
    async findCommand(session, commandId) {
      const found = sessions.get(session)?.records.find((record) => record.commandId === commandId)
      return found === undefined ? null : structuredClone(found)
    },

    list: async (request) => listSessions(all(), request),
    find: async (name) => findSessions(all(), name),
    search: (request) => searchSessions(sessions, request),
    busy: async () =>
      all()
        .filter(({ entry, trashedAt }) => entry.busy && trashedAt === null)
        .map(({ id, owner }) => ({ session: id, owner })),
    async entry(session) {
      const held = sessions.get(session)
      if (held === undefined) return null
      const { entry, head, base, owner, trashedAt } = held
      return { entry: structuredClone(entry), head, base, owner, trashedAt }
    },
    async removeUnspoken(owners) {
      const removed = all().filter(
        (held) =>
          !held.entry.spoken &&
          (held.owner === null || owners.includes(held.owner)) &&
          !all().some((child) => child.parent === held),
      )
      for (const { id } of removed) sessions.delete(id)
      return removed.length
    },

    async trash(session, at) {
      const held = sessions.get(session)
      if (held === undefined) return notFound(session)
      if (held.owner !== null) return refuse(faults.sessionLocked(session, held.owner))
      held.trashedAt ??= at
      return done
    },
    async restore(session) {
      const held = sessions.get(session)
      if (held === undefined) return notFound(session)
      held.trashedAt = null
      return done
    },
    async purge(session, options) {
      const held = sessions.get(session)
      if (held === undefined) return notFound(session)
      if (options !== undefined && held.trashedAt !== options.trashedAt)
        return refuse(faults.sessionNotTrashed(session, held.trashedAt))
      if (held.owner !== null) return refuse(faults.sessionLocked(session, held.owner))
      sessions.delete(session) // what its forks share of it they hold on to themselves
      return done
    },

    async blobsInUse() {
      const used = new Set(all().flatMap(listBlobs))
      return async (hashes) => new Set(hashes.filter((hash) => used.has(hash)))
    },
    async refersTo(session, hash) {
      const held = sessions.get(session)
      return held !== undefined && listBlobs(held).includes(hash)
    },

    async registerNode(node) {
      nodes.set(node.id, { ...node })
    },
    nodes: async () => [...nodes.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    async removeNode(id) {
      nodes.delete(id)
    },
    async claim(session, owner, takeFrom) {
      const held = sessions.get(session)
      if (held === undefined) return notFound(session)
      if (held.trashedAt !== null) return refuse(faults.sessionTrashed(session))
      if (held.owner !== null && held.owner !== owner && held.owner !== takeFrom) {
        return refuse(faults.sessionLocked(session, held.owner))
      }
      held.owner = owner
      held.epoch += 1
      return ok({ epoch: held.epoch, head: held.head, base: held.base })
    },
    async release(session, owner, epoch) {
      const held = sessions.get(session)
      if (held === undefined || held.owner !== owner || held.epoch !== epoch) return
      held.owner = null
      held.epoch += 1
    },

    async saveDraft(session, epoch, draft) {
      const held = sessions.get(session)
      if (held === undefined) return notFound(session)
      if (held.epoch !== epoch) return fenced(held, epoch)
      held.draft = structuredClone(draft)
      return done
    },
    loadDraft: async (session) => structuredClone(sessions.get(session)?.draft ?? null),
    async saveSnapshot(session, snapshot) {
      const held = sessions.get(session)
      if (held !== undefined) held.snapshot = { ...snapshot }
    },
    async loadSnapshot(session, fold) {
      const snapshot = sessions.get(session)?.snapshot ?? null
      return snapshot?.fold === fold ? snapshot : null
    },
    workspaceTrust: async (workspace) => trusts.of(workspace),
    probe: async () => done,
    async close() {},
  }
}
