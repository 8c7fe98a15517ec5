import {
  done,
  type Fault,
  fault,
  HoldfastError,
  type Meta,
  type Result,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import type { NewSession } from '../../ports/store/log.ts'
import type { Store } from '../../ports/store/store.ts'
import type { NodeDeps } from '../dependencies.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { mergeStores } from './merge-stores.ts'

/** Knows which store holds a session: one with `persist: false` and its forks are in memory and never on disk. */
export interface SessionStores extends Pick<Store, 'create' | 'entry' | 'list' | 'find' | 'search'> {
  storeOf(id: SessionId): Store
  /** Returns a fault if a session in memory has a name of a new one on disk, whose store checks its own names. */
  checkNames(session: SessionId, names: Names): Promise<Result<void>>
  /** 1 from the first session in memory on. Shared, so that another thread asks `checkNames` only if it must. */
  readonly memoryUsed: Int32Array
  /** Returns the dependencies with the store, the blobs and the request builder of the session. */
  depsOf(id: SessionId): NodeDeps
}

type Names = Pick<Meta, 'handle' | 'key'>

export function createSessionStores(deps: NodeDeps): SessionStores {
  const { store, memoryStore } = deps
  const isOne = memoryStore === store
  const inMemory = new Set<SessionId>()
  const memoryUsed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const names = createKeyedMutex<string>()
  const memory: Store = {
    ...memoryStore,
    // Nodes and the trust of workspaces are shared with other processes.
    nodes: () => store.nodes(),
    workspaceTrust: (workspace) => store.workspaceTrust(workspace),
    // What a session in memory spends is stored: a restart does not give it back.
    async append({ charge, ...append }) {
      const appended = await memoryStore.append(append)
      const charged = appended.ok && charge ? await store.addCharge(charge) : done
      if (!charged.ok) deps.onProblem({ where: 'storing what was spent', cause: new HoldfastError(charged.fault) })
      return appended
    },
    spentOn: (day, of) => store.spentOn(day, of),
    caps: () => store.caps(),
    async purge(id, options) {
      const purged = await memoryStore.purge(id, options)
      if (purged.ok) inMemory.delete(id)
      return purged
    },
    async removeUnspoken(owners) {
      const removed = await memoryStore.removeUnspoken(owners)
      for (const id of inMemory) if ((await memoryStore.entry(id)) === null) inMemory.delete(id)
      return removed
    },
  }
  const memoryDeps: NodeDeps = { ...deps, store: memory, blobs: deps.memoryBlobs, requests: undefined }
  const depsOf = (id: SessionId): NodeDeps => (inMemory.has(id) ? memoryDeps : deps)

  async function createAlone(session: NewSession): Promise<Result<void>> {
    const isForMemory = isUnsaved(session)
    const [own, other] = isForMemory ? [memoryStore, store] : [store, memoryStore]
    const refusal = isOne ? null : await findNameTaken(other, session.session, session.entry.meta, session.tenant)
    if (refusal) return refuse(refusal)
    if (isForMemory) Atomics.store(memoryUsed, 0, 1)
    const created = await own.create(session)
    if (created.ok && isForMemory) inMemory.add(session.session)
    return created
  }

  return {
    ...(isOne ? store : mergeStores(store, memoryStore)),
    depsOf,
    memoryUsed,
    storeOf: (id) => depsOf(id).store,
    async checkNames(session, names) {
      const refusal = isOne ? null : await findNameTaken(memoryStore, session, names)
      return refusal ? refuse(refusal) : done
    },
    entry: (id) => depsOf(id).store.entry(id),
    /** Locks the names, so that none is taken between the look-up in one store and the write to the other. */
    create(session) {
      const { handle, key } = session.entry.meta
      const createKeyed = () =>
        key === undefined ? createAlone(session) : names.take(`key ${key}`, () => createAlone(session))
      return names.take(`handle ${handle}`, createKeyed)
    },
  }
}

function isUnsaved({ records }: NewSession): boolean {
  const first = records[0]?.record.event
  return first?.type === 'session.started' && first.persist === false
}

/** Returns a fault if the other store has a name of the session. Each store checks its own names. */
async function findNameTaken(
  other: Store,
  session: SessionId,
  { handle, key }: Names,
  tenant?: string,
): Promise<Fault | null> {
  const [sameId, [sameHandle], [sameKey]] = await Promise.all([
    other.entry(session),
    other.find({ type: 'handle', handle }),
    key === undefined ? [] : other.find({ type: 'key', key }, tenant),
  ])
  if (sameId) return fault('internal', `Session ${session} already exists.`, { session })
  if (sameHandle) return fault('handle_taken', `The handle ${handle} is taken.`, { session: sameHandle })
  return sameKey ? fault('key_taken', `The key ${key} is taken.`, { session: sameKey }) : null
}
