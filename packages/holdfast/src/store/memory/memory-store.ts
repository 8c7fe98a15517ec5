import type {
  Catalogue,
  Charge,
  Drafts,
  Leases,
  Log,
  Store,
  StoredToken,
  Tenants,
  TokenRows,
} from '@holdfast/core/ports'
import { done, ok, refuse, type SessionId, type Trust } from '@holdfast/protocol'
import * as faults from '../store-faults.ts'
import { findSessions, listSessions } from './memory-catalogue.ts'
import { searchSessions } from './memory-search.ts'
import { createBlobUses, decodeRecords, listBlobs, type MemorySession, readRange, readRefs } from './memory-session.ts'
import { createMemorySpending } from './memory-spending.ts'
import { applyTrustChange, compareTrusts } from './memory-trusts.ts'

type MemorySessions = Map<SessionId, MemorySession>
type MemoryTrusts = Map<string, readonly Trust[]>

/** Creates a store in memory. It copies what goes in and out, so that callers never share its objects. */
export function createMemoryStore(): Store {
  const sessions: MemorySessions = new Map()
  const trusts: MemoryTrusts = new Map()
  const spending = createMemorySpending()
  return {
    ...createLog(sessions, trusts, spending.add),
    ...createCatalogue(sessions),
    ...createLeases(sessions),
    ...createDrafts(sessions),
    ...createTokenRows(),
    ...spending.rows,
    search: (request) => searchSessions(sessions, request),
    async blobsInUse() {
      const used = new Set([...sessions.values()].flatMap(listBlobs))
      return async (hashes) => new Set(hashes.filter((hash) => used.has(hash)))
    },
    async refersTo(session, hash) {
      const found = sessions.get(session)
      return found !== undefined && listBlobs(found).includes(hash)
    },
    async saveSnapshot(session, snapshot) {
      const found = sessions.get(session)
      if (found !== undefined) found.snapshot = { ...snapshot }
    },
    async loadSnapshot(session, fold) {
      const snapshot = sessions.get(session)?.snapshot ?? null
      return snapshot?.fold === fold ? snapshot : null
    },
    workspaceTrust: async (workspace) => structuredClone((trusts.get(workspace) ?? []).toSorted(compareTrusts)),
    tenants: createTenants(),
    probe: async () => done,
    async close() {},
  }
}

const notFound = (session: SessionId) => refuse(faults.sessionNotFound(session))
const fenced = ({ id, epoch: current }: MemorySession, epoch: number) => refuse(faults.fenced(id, epoch, current))

function createLog(sessions: MemorySessions, trusts: MemoryTrusts, charge: (charge: Charge) => void): Log {
  let order = 0
  return {
    async create({ session, parent, base, owner, records, entry, blobs, tenant: given }) {
      const { handle, key } = entry.meta
      if (sessions.has(session)) return refuse(faults.sessionExists(session))
      const sameHandle = [...sessions.values()].find((other) => other.entry.meta.handle === handle)
      if (sameHandle !== undefined) return refuse(faults.handleTaken(handle, sameHandle.id))
      const from = parent === null ? null : sessions.get(parent)
      const startedFor = entry.meta.parent === undefined ? undefined : sessions.get(entry.meta.parent)
      const tenant = given ?? from?.tenant ?? startedFor?.tenant
      const [sameKey] = key === undefined ? [] : findSessions([...sessions.values()], { type: 'key', key }, tenant)
      if (key !== undefined && sameKey !== undefined) return refuse(faults.keyTaken(key, sameKey))
      if (from === undefined || (from !== null && from.head < base)) return notFound(parent ?? session)

      order += 1
      sessions.set(session, {
        id: session,
        order,
        parent: from,
        base,
        head: base + records.length,
        epoch: 1,
        owner,
        entry: structuredClone(entry),
        records: decodeRecords(records, base),
        draft: null,
        snapshot: null,
        trashedAt: null,
        blobs: createBlobUses(base + 1, blobs),
        commandHashes: new Map(),
        tenant,
      })
      return done
    },

    async append({ session, after, epoch, records, entry, clearDraft, blobs, trust, charge: charged, commandHash }) {
      const found = sessions.get(session)
      if (found === undefined) return notFound(session)
      if (found.epoch !== epoch) return fenced(found, epoch)
      const ids = new Set(records.map(({ record }) => record.commandId))
      const seen = found.records.find(({ commandId }) => commandId !== undefined && ids.has(commandId))
      if (seen !== undefined) return refuse(faults.commandSeen(seen.seq))
      if (found.head !== after) return refuse(faults.logMoved(session, after, found.head))
      found.records.push(...decodeRecords(records, after))
      found.head += records.length
      found.entry = structuredClone(entry)
      found.blobs.push(...createBlobUses(after + 1, blobs))
      const commandId = records[0]?.record.commandId
      if (commandId !== undefined && commandHash !== undefined) found.commandHashes.set(commandId, commandHash)
      if (clearDraft) found.draft = null
      if (charged) charge(charged)
      const { workspace } = entry.meta
      // The trust of a workspace counts for everyone, so that no session of a tenant takes it back.
      const changes = found.tenant === undefined ? trust : trust.filter(({ type }) => type === 'granted')
      trusts.set(workspace, changes.reduce(applyTrustChange, trusts.get(workspace) ?? []))
      return done
    },

    read: async (session, range) => readRange(sessions.get(session), range),
    readRefs: async (session, calls) => readRefs(sessions.get(session), calls),
    async findCommand(session, commandId) {
      const found = sessions.get(session)?.records.find((record) => record.commandId === commandId)
      return found === undefined ? null : structuredClone(found)
    },
    commandHash: async (session, commandId) => sessions.get(session)?.commandHashes.get(commandId) ?? null,
  }
}

function createCatalogue(sessions: MemorySessions): Catalogue {
  const all = (): readonly MemorySession[] => [...sessions.values()]
  return {
    list: async (request) => listSessions(all(), request),
    find: async (name, tenant) => findSessions(all(), name, tenant),
    busy: async () =>
      all()
        .filter(({ entry, trashedAt }) => entry.busy && trashedAt === null)
        .map(({ id, owner }) => ({ session: id, owner })),
    async entry(session) {
      const found = sessions.get(session)
      if (found === undefined) return null
      const { entry, head, base, owner, trashedAt, tenant } = found
      return { entry: structuredClone(entry), head, base, owner, trashedAt, ...(tenant !== undefined && { tenant }) }
    },
    async removeUnspoken(owners) {
      const removed = all().filter(
        (found) =>
          !found.entry.spoken &&
          (found.owner === null || owners.includes(found.owner)) &&
          !all().some((child) => child.parent === found),
      )
      for (const { id } of removed) sessions.delete(id)
      return removed.length
    },

    async trash(session, at) {
      const found = sessions.get(session)
      if (found === undefined) return notFound(session)
      if (found.owner !== null) return refuse(faults.sessionLocked(session, found.owner))
      found.trashedAt ??= at
      return done
    },
    async restore(session) {
      const found = sessions.get(session)
      if (found === undefined) return notFound(session)
      found.trashedAt = null
      return done
    },
    async purge(session, options) {
      const found = sessions.get(session)
      if (found === undefined) return notFound(session)
      if (options !== undefined && found.trashedAt !== options.trashedAt)
        return refuse(faults.sessionNotTrashed(session, found.trashedAt))
      if (found.owner !== null) return refuse(faults.sessionLocked(session, found.owner))
      sessions.delete(session) // its forks still hold the records they share
      return done
    },
  }
}

function createLeases(sessions: MemorySessions): Leases {
  const nodes = new Map<string, Parameters<Store['registerNode']>[0]>()
  return {
    async registerNode(node) {
      nodes.set(node.id, { ...node })
    },
    nodes: async () => [...nodes.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    async removeNode(id) {
      nodes.delete(id)
    },
    async claim(session, owner, takeFrom) {
      const found = sessions.get(session)
      if (found === undefined) return notFound(session)
      if (found.trashedAt !== null) return refuse(faults.sessionTrashed(session))
      if (found.owner !== null && found.owner !== owner && found.owner !== takeFrom) {
        return refuse(faults.sessionLocked(session, found.owner))
      }
      found.owner = owner
      found.epoch += 1
      return ok({ epoch: found.epoch, head: found.head, base: found.base })
    },
    async release(session, owner, epoch) {
      const found = sessions.get(session)
      if (found === undefined || found.owner !== owner || found.epoch !== epoch) return
      found.owner = null
      found.epoch += 1
    },
  }
}

function createDrafts(sessions: MemorySessions): Drafts {
  return {
    async saveDraft(session, epoch, draft) {
      const found = sessions.get(session)
      if (found === undefined) return notFound(session)
      if (found.epoch !== epoch) return fenced(found, epoch)
      found.draft = structuredClone(draft)
      return done
    },
    loadDraft: async (session) => structuredClone(sessions.get(session)?.draft ?? null),
  }
}

function createTokenRows(): TokenRows {
  const all = new Map<string, StoredToken>()
  return {
    async addToken(token) {
      all.set(token.id, { ...token })
      return done
    },
    tokens: async () => [...all.values()].map((token) => ({ ...token })),
    removeToken: async (id) => ok(all.delete(id)),
    async touchToken(id, at) {
      const found = all.get(id)
      if (found !== undefined) all.set(id, { ...found, lastUsedAt: at })
      return done
    },
  }
}

/** Remembers the files of tenants until the process ends. */
function createTenants(): Tenants {
  const files = new Set<string>()
  return {
    async addFile(tenant, hash) {
      files.add(`${hash} ${tenant}`)
      return done
    },
    hasFile: async (tenant, hash) => files.has(`${hash} ${tenant}`),
  }
}
