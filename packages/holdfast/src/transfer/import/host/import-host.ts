import { claimSession, findByKey, findSession, type LocalSessions, type SessionRegistry } from '@holdfast/core'
import type { Append, Blobs, CatalogueRow, Lease, Log, NewSession } from '@holdfast/core/ports'
import type { BlobHash, Meta, Result, SessionId, StoredFile } from '@holdfast/protocol'
import { ok } from '@holdfast/protocol'

/** A session and the names that no other may have. */
export type NamedSession = Pick<Meta, 'handle' | 'key'> & { readonly session: SessionId }

/** What an import asks of the runtime. Arguments and answers are plain data, so that the import can run on a thread. */
export interface ImportHost {
  /** Returns the row of a session; `isOurs`: it is open in this process, so only its runner may append. */
  entry(session: SessionId): Promise<(CatalogueRow & { readonly isOurs: boolean }) | null>
  findKey(key: string): Promise<Result<SessionId | null>>
  /** Returns a fault if the session is in the trash. */
  checkTrash(session: SessionId): Promise<Result<void>>
  /** Refuses each session with a name of one that is never written to disk. Its store checks the others. */
  checkNames(sessions: readonly NamedSession[]): Promise<readonly Result<void>[]>
  /** Creates a session. One that is not whole yet is held until `release`. */
  create(session: Omit<NewSession, 'owner'>, isWhole: boolean): Promise<Result<void>>
  append(append: Append): Promise<Result<void>>
  read(...range: Parameters<Log['read']>): ReturnType<Log['read']>
  /** Claims a session that is free or whose owner is dead. */
  claim(session: SessionId): Promise<Result<Lease>>
  release(session: SessionId, epoch: number): Promise<void>
  putBlob(pieces: readonly Uint8Array[]): ReturnType<Blobs['put']>
  hasBlob(hash: BlobHash): Promise<boolean>
  storeFile(bytes: Uint8Array, name: string | undefined): Promise<Result<StoredFile>>
}

export type LocalImportHost = ImportHost & {
  /** 0 while no name can be that of a session in memory; see `SessionStores`. */
  readonly memoryUsed: Int32Array
  /** Ends an import that was stopped: removes what it began to create, and releases what it began to extend. */
  abandon(): Promise<void>
}

/** A session that the import has not released yet. */
type UnfinishedSession = { readonly epoch: number; readonly isNew: boolean }

/** Creates the host of an import on the runtime of this process. */
export function createImportHost(
  { stores, deps, all }: Pick<SessionRegistry, 'stores' | 'deps' | 'all'>,
  sessions: Pick<LocalSessions, 'storeFile'>,
): LocalImportHost {
  const { node, blobs } = deps
  const unfinished = new Map<SessionId, UnfinishedSession>()
  const isLoaded = (session: SessionId) => all().some(({ id }) => id === session)

  const release: ImportHost['release'] = async (session, epoch) => {
    await stores.storeOf(session).release(session, node.id, epoch)
    unfinished.delete(session)
  }
  return {
    memoryUsed: stores.memoryUsed,
    async entry(session) {
      const row = await stores.entry(session)
      return row && { ...row, isOurs: row.owner === node.id || isLoaded(session) }
    },
    findKey: (key) => findByKey(stores, key),
    async checkTrash(session) {
      const row = await stores.entry(session)
      const found = row === null || row.trashedAt === null ? ok(session) : await findSession(stores, session)
      return found.ok ? ok(undefined) : found
    },
    checkNames: (sessions) => Promise.all(sessions.map(({ session, ...names }) => stores.checkNames(session, names))),
    async create(session, isWhole) {
      const created = await stores.create({ ...session, owner: isWhole ? null : node.id })
      if (created.ok && !isWhole) unfinished.set(session.session, { epoch: 1, isNew: true })
      return created
    },
    append: (append) => stores.storeOf(append.session).append(append),
    read: (session, range) => stores.storeOf(session).read(session, range),
    async claim(session) {
      const claimed = await claimSession({ ...deps, store: stores.storeOf(session) }, session)
      if (!claimed.ok) return claimed
      const { lease } = claimed.value
      unfinished.set(session, { epoch: lease.epoch, isNew: false })
      return ok(lease)
    },
    release,
    putBlob: (pieces) => blobs.put(pieces),
    hasBlob: (hash) => blobs.has(hash),
    storeFile: (bytes, name) => sessions.storeFile(bytes, name === undefined ? {} : { name }),
    async abandon() {
      for (const [session, { epoch, isNew }] of [...unfinished]) {
        await release(session, epoch)
        if (isNew) await stores.storeOf(session).purge(session)
      }
    },
  }
}
