import type { NewSession, SessionName } from '@holdfast/core/ports'
import { type Fault, limits, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { PlacedStore } from '../list-cursor.ts'
import * as faults from '../store-faults.ts'
import { listBoth } from './split-list.ts'
import { searchBoth } from './split-search.ts'

/**
 * Two stores as one: a session that begins with `persist: false` lives in `memory`, and nothing of it reaches `disk`.
 * Forks live where their parent does. Nodes and the trust of workspaces are the disk's: they are shared by processes.
 */
export function createSplitStore(disk: PlacedStore, memory: PlacedStore): PlacedStore {
  const inMemory = new Set<SessionId>()
  const storeOf = (session: SessionId): PlacedStore => (inMemory.has(session) ? memory : disk)
  const takeTurns = createTurns()

  async function createInMemory(session: NewSession): Promise<Result<void>> {
    const inTheWay = await nameTaken(disk, session)
    if (inTheWay !== null) return refuse(inTheWay)
    const created = await memory.create(session)
    if (created.ok) inMemory.add(session.session)
    return created
  }

  async function createOnDisk(session: NewSession): Promise<Result<void>> {
    const inTheWay = await nameTaken(memory, session)
    return inTheWay === null ? disk.create(session) : refuse(inTheWay)
  }

  async function find(name: SessionName): Promise<readonly SessionId[]> {
    const found = await Promise.all([disk.find(name), memory.find(name)])
    if (name.type === 'latest') return latestOf(...found)
    return found.flat().toSorted().slice(0, limits.prefixMatchesMax)
  }

  /** Memory's where both were last spoken in at the same moment, as in a list. */
  async function latestOf(onDisk: readonly SessionId[], here: readonly SessionId[]): Promise<readonly SessionId[]> {
    const [theirs, ours] = await Promise.all([onDisk, here].map(([id]) => (id ? storeOf(id).entry(id) : null)))
    if (!theirs || !ours) return here.length > 0 ? here : onDisk
    return ours.entry.activeAt >= theirs.entry.activeAt ? here : onDisk
  }

  return {
    create: (session) =>
      isForMemory(session)
        ? takeTurns.alone(() => createInMemory(session))
        : takeTurns.together(() => createOnDisk(session)),
    append: (append) => storeOf(append.session).append(append),
    read: (session, range) => storeOf(session).read(session, range),
    readRefs: (session, calls) => storeOf(session).readRefs(session, calls),
    findCommand: (session, commandId) => storeOf(session).findCommand(session, commandId),

    list: (request) => listBoth(disk, memory, request),
    find,
    search: (request) => searchBoth(disk, memory, request),
    busy: async () => (await Promise.all([disk.busy(), memory.busy()])).flat(),
    entry: (session) => storeOf(session).entry(session),
    async removeUnspoken(owners) {
      const [onDisk, here] = await Promise.all([disk.removeUnspoken(owners), memory.removeUnspoken(owners)])
      for (const session of here === 0 ? [] : inMemory) {
        if ((await memory.entry(session)) === null) inMemory.delete(session)
      }
      return onDisk + here
    },

    trash: (session, at) => storeOf(session).trash(session, at),
    restore: (session) => storeOf(session).restore(session),
    async purge(session, options) {
      const purged = await storeOf(session).purge(session, options)
      if (purged.ok) inMemory.delete(session)
      return purged
    },

    async blobsInUse(signal) {
      const [onDisk, here] = await Promise.all([disk.blobsInUse(signal), memory.blobsInUse(signal)])
      return async (hashes) => (await onDisk(hashes)).union(await here(hashes))
    },
    refersTo: (session, hash) => storeOf(session).refersTo(session, hash),

    registerNode: (node) => disk.registerNode(node),
    nodes: () => disk.nodes(),
    removeNode: (id) => disk.removeNode(id),
    claim: (session, owner, takeFrom) => storeOf(session).claim(session, owner, takeFrom),
    release: (session, owner, epoch) => storeOf(session).release(session, owner, epoch),

    saveDraft: (session, epoch, draft) => storeOf(session).saveDraft(session, epoch, draft),
    loadDraft: (session) => storeOf(session).loadDraft(session),
    saveSnapshot: (session, snapshot) => storeOf(session).saveSnapshot(session, snapshot),
    loadSnapshot: (session, fold) => storeOf(session).loadSnapshot(session, fold),
    workspaceTrust: (workspace) => disk.workspaceTrust(workspace),
    probe: () => disk.probe(), // memory takes everything
    async close() {
      await Promise.all([disk.close(), memory.close()])
    },
  }
}

function isForMemory({ records }: NewSession): boolean {
  const first = records[0]?.record.event
  return first?.type === 'session.started' && first.persist === false
}

/** Names are unique over both stores; each sees to its own, so only the other one is asked. */
async function nameTaken(other: PlacedStore, { session, entry }: NewSession): Promise<Fault | null> {
  const { handle, key } = entry.meta
  const [sameId, [sameHandle], [sameKey]] = await Promise.all([
    other.entry(session),
    other.find({ type: 'handle', handle }),
    key === undefined ? [] : other.find({ type: 'key', key }),
  ])
  if (sameId !== null) return faults.sessionExists(session)
  if (sameHandle !== undefined) return faults.handleTaken(handle, sameHandle)
  return key !== undefined && sameKey !== undefined ? faults.keyTaken(key, sameKey) : null
}

/** Lets work run together, or alone: between asking one store for a name and taking it in the other, nobody else may. */
function createTurns() {
  let lastAlone: Promise<unknown> = Promise.resolve()
  const together = new Set<Promise<unknown>>()

  return {
    alone<Value>(work: () => Promise<Value>): Promise<Value> {
      const result = Promise.allSettled([lastAlone, ...together]).then(work)
      lastAlone = result
      return result
    },
    together<Value>(work: () => Promise<Value>): Promise<Value> {
      const result = Promise.allSettled([lastAlone]).then(work)
      const ended = result.finally(() => together.delete(ended))
      ended.catch(() => undefined) // who asked hears of it through `result`
      together.add(ended)
      return result
    },
  }
}
