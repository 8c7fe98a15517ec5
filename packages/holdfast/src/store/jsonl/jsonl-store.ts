import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { BlobUses, OnProblem, ReadRecord } from '@holdfast/core/ports'
import type { CommandId, Recorded, SessionId } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import type { PlacedStore } from '../list-cursor.ts'
import { listSessions } from '../memory/memory-catalogue.ts'
import { probeText } from '../probe-text.ts'
import { faultOf, storageFault } from '../storage-fault.ts'
import * as faults from '../store-faults.ts'
import { sessionLocked, sessionNotFound } from '../store-faults.ts'
import { type CatalogueFile, openCatalogueFile, readCatalogue } from './catalogue/catalogue-file.ts'
import { createForkIndex } from './catalogue/fork-index.ts'
import { addKnownRows, type EntryOfLog, lastOrder, rebuildRows } from './catalogue/rebuild-rows.ts'
import { createFindRows, createSessionNames, type SessionNames } from './catalogue/session-names.ts'
import { openTrashFile, type TrashFile } from './catalogue/trash-file.ts'
import { createDirectorySync, writeTemporaryFile } from './files/atomic-file.ts'
import { type DirectoryLock, lockDirectory } from './files/directory-lock.ts'
import { createJsonlPaths, prepareDirectory, refusalOfDirectory } from './files/layout.ts'
import { type NodeFile, openNodeFile } from './files/node-file.ts'
import { createDraftFiles, createSnapshotFiles, type DraftFiles, type SnapshotFiles } from './files/side-files.ts'
import { openTrustFile, type TrustFile } from './files/trust-file.ts'
import { createOpenLogs, type OpenLogs } from './log/open-logs.ts'
import type { SessionRow } from './log/session-row.ts'
import { createBlobUses } from './read/blob-uses.ts'
import { createLogReader } from './read/log-reader.ts'
import { createLogSearch } from './read/log-search.ts'
import { createGroupAppender } from './write/append.ts'
import { createSessionCreator } from './write/create-session.ts'
import { createSessionRemover } from './write/remove-session.ts'
import { createSessionQueue, type SessionQueue } from './write/session-queue.ts'

export type JsonlStoreOptions = {
  readonly directory: string
  readonly now: () => number
  readonly entryOf: EntryOfLog
  readonly onProblem: OnProblem
  /** How many logs are kept ready at once. */
  readonly openMax?: number | undefined
}

const openMaxDefault = 256

/**
 * Opens a directory of plain files as a store, or makes it: one `<id>.jsonl` for each session is the truth, all else can
 * be deleted (and what was in the trash is then listed again). It belongs to one process at a time. Refused: session_locked, not_a_store, store_too_new, storage_error.
 */
export async function openJsonlStore(options: JsonlStoreOptions): Promise<Result<PlacedStore>> {
  const places = createJsonlPaths(resolve(options.directory))
  let lock: DirectoryLock | null = null
  try {
    const refusal = await refusalOfDirectory(places)
    if (refusal !== null) return refuse(refusal)
    const locked = await lockDirectory(places.directory, options.now(), 'store')
    if (!locked.ok) return locked
    lock = locked.value
    return ok(await openLocked(options, lock))
  } catch (error) {
    lock?.release()
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, places.directory))
  }
}

async function openLocked(options: JsonlStoreOptions, lock: DirectoryLock): Promise<PlacedStore> {
  const { directory, entryOf, onProblem, openMax = openMaxDefault } = options
  const places = createJsonlPaths(resolve(directory))
  const found = await prepareDirectory(places)
  const rows = new Map<SessionId, SessionRow>()
  const changedBefore = new Set<SessionRow>()
  let changed = (row: SessionRow): void => void changedBefore.add(row)
  const turns = createSessionQueue((session, group) => appendGroup(session, group))
  const logs = createOpenLogs({ places, openMax, isIdle: turns.isIdle, changed: (row) => changed(row), onProblem })

  const known = await readCatalogue(places.catalogue)
  const unknown = addKnownRows(rows, known.rows, found)
  const made = await rebuildRows({ places, rows, logs, onProblem }, unknown)
  const names = createSessionNames()
  for (const row of rows.values()) names.add(row)
  const trash = await openTrashFile(places.trash, onProblem)
  const trasher = createTrasher(rows, trash)

  const trusts = await openTrustFile(places.trust, async ({ session, seq, crc }) => {
    const row = rows.get(session)
    return row !== undefined && (await (await logs.of(row)).crcAt(seq)) === crc
  })
  const nodes = await openNodeFile(places.nodes)
  const reader = createLogReader(rows, logs)
  const [drafts, snapshots] = [createDraftFiles(places), createSnapshotFiles(places)]
  for (const row of made) {
    if (row.isShared) continue
    const { id, head, base, owner, entry, trashedAt } = row
    await snapshots.dropAhead(id, head)
    const source = {
      read: reader.read,
      loadSnapshot: async (_: SessionId, fold: number) => {
        const snapshot = await snapshots.load(id)
        return snapshot?.fold === fold ? snapshot : null
      },
      entry: async () => ({ entry, head, base, owner, trashedAt }),
    }
    // What cannot be folded keeps what else is known of it, and is told when someone opens it.
    const folded = (await entryOf(source, id).catch(() => null)) ?? entry
    // What was said may be what was lost: a damaged log is never taken for one that nobody spoke in.
    row.entry = { ...folded, spoken: folded.spoken || entry.spoken }
  }

  const catalogue = await openCatalogueFile(places.catalogue, known, rows)
  changed = catalogue.changed
  for (const row of changedBefore) changed(row)
  const syncNames = createDirectorySync(places.directory)
  const forks = createForkIndex(rows.values())
  let born = lastOrder(rows.values())
  const nextOrder = () => {
    born += 1
    return born
  }
  const appendGroup = createGroupAppender({ directory: places.directory, rows, logs, catalogue, drafts, trusts })
  const creator = createSessionCreator({ places, rows, forks, names, logs, catalogue, trash, syncNames, nextOrder })
  const remover = createSessionRemover({ places, rows, forks, names, logs, catalogue, trash, syncNames })

  async function close(): Promise<void> {
    try {
      await Promise.all([turns.settled(), creator.settled(), trusts.settled()])
      await Promise.all([logs.close(), catalogue.close(), trash.close()])
    } finally {
      lock.release()
    }
  }
  const parts = { directory: places.directory, rows, names, turns, logs, reader, creator, remover, catalogue }
  const blobUses = createBlobUses(rows, places, remover.isLeaving)
  return createStoreMethods({ ...parts, trasher, blobUses, drafts, snapshots, trusts, nodes, close })
}

export type JsonlMethodsDeps = {
  readonly directory: string
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly names: SessionNames
  readonly turns: SessionQueue
  readonly logs: OpenLogs
  readonly reader: ReturnType<typeof createLogReader>
  readonly creator: ReturnType<typeof createSessionCreator>
  readonly remover: ReturnType<typeof createSessionRemover>
  readonly catalogue: CatalogueFile
  readonly drafts: DraftFiles
  readonly snapshots: SnapshotFiles
  readonly trusts: TrustFile
  readonly trasher: ReturnType<typeof createTrasher>
  readonly blobUses: BlobUses
  readonly nodes: NodeFile
  readonly close: () => Promise<void>
}

/** The port over the parts: who is asked for what, and what the disk refuses told as a fault. */
export function createStoreMethods(parts: JsonlMethodsDeps): PlacedStore {
  const { directory, rows, turns, logs, reader, creator, remover, catalogue } = parts
  const { drafts, snapshots, trusts, trasher, blobUses, nodes } = parts
  const search = createLogSearch(rows, logs)
  const find = createFindRows(rows, parts.names)
  let closing: Promise<void> | null = null
  const visible = (): readonly SessionRow[] => [...rows.values()].filter(({ isShared }) => !isShared)
  const rowOf = (session: SessionId): SessionRow | null => {
    const row = rows.get(session)
    return row === undefined || row.isShared ? null : row
  }

  /** What the disk does to a question that has no refusal is an exception. */
  async function answered<Value>(work: () => Promise<Value>): Promise<Value> {
    if (closing !== null) throw new HoldfastError(isClosed())
    try {
      return await work()
    } catch (error) {
      throw error instanceof HoldfastError ? error : new HoldfastError(faultOf(error, directory), { cause: error })
    }
  }
  async function attempted<Value>(work: () => Promise<Result<Value>>): Promise<Result<Value>> {
    try {
      return await answered(work)
    } catch (error) {
      if (error instanceof HoldfastError) return refuse(error.toFault())
      throw error
    }
  }
  const isClosed = () => storageFault(directory, 'io', { error: 'it is closed' })
  const notFound = (session: SessionId) => refuse(faults.sessionNotFound(session))

  async function commandOf(session: SessionId, commandId: CommandId): Promise<Recorded | null> {
    const row = rowOf(session)
    if (row === null) return null
    const log = await logs.of(row)
    const seq = log.index.seqOf(commandId)
    const record: ReadRecord | undefined = seq === null ? undefined : (await log.read([seq]))[0]
    if (record === undefined || !('lost' in record)) return record ?? null
    const message = `Command ${commandId} was admitted at seq ${record.seq}, but its record is damaged.`
    throw new HoldfastError(fault('log_damaged', message, { session, seq: record.seq }))
  }

  /** Nobody may be making a fork of a session while it is removed. */
  async function removable(): Promise<void> {
    await Promise.all([creator.settled(), trusts.settled()])
  }

  return {
    create: (session) => attempted(() => creator.create(session)),
    append: (append) => attempted(() => turns.append(append)),
    read: (session, range) => answered(() => reader.read(session, range)),
    readRefs: (session, calls) => answered(() => reader.readRefs(session, calls)),
    findCommand: (session, commandId) => answered(() => commandOf(session, commandId)),

    list: (request) => answered(async () => listSessions(visible(), request)),
    find: (name) => answered(async () => find(name)),
    search: (request) => attempted(() => search(request)),
    busy: () =>
      answered(async () =>
        visible()
          .filter(({ entry, trashedAt }) => entry.busy && trashedAt === null)
          .map(({ id, owner }) => ({ session: id, owner })),
      ),
    entry: (session) =>
      answered(async () => {
        const row = rowOf(session)
        if (row === null) return null
        const { entry, head, base, owner, trashedAt } = row
        return { entry: structuredClone(entry), head, base, owner, trashedAt }
      }),
    removeUnspoken: (owners) =>
      answered(async () => {
        await removable()
        const isLeft = ({ id, entry, owner }: SessionRow): boolean =>
          !entry.spoken && (owner === null || owners.includes(owner)) && !remover.hasForks(id)
        const removals = visible()
          .filter(isLeft)
          .map((row) =>
            turns.alone(row.id, async () => {
              if (rowOf(row.id) !== row || !isLeft(row)) return 0
              await remover.remove(row)
              return 1
            }),
          )
        return (await Promise.all(removals)).reduce<number>((sum, one) => sum + one, 0)
      }),
    trash: (session, at) => attempted(() => turns.alone(session, () => trasher.trash(session, at))),
    restore: (session) => attempted(() => turns.alone(session, () => trasher.restore(session))),
    purge: (session, options) =>
      attempted(async () => {
        await removable()
        return turns.alone(session, async () => {
          const row = rowOf(session)
          if (row === null) return notFound(session)
          if (options !== undefined && row.trashedAt !== options.trashedAt)
            return refuse(faults.sessionNotTrashed(session, row.trashedAt))
          if (row.owner !== null) return refuse(faults.sessionLocked(session, row.owner))
          await remover.remove(row)
          return done
        })
      }),

    blobsInUse: (signal) => answered(() => blobUses.blobsInUse(signal)),
    refersTo: (session, hash) => answered(() => blobUses.refersTo(session, hash)),

    registerNode: (node) => answered(() => nodes.put(node)),
    nodes: () => answered(async () => nodes.all()),
    removeNode: (id) => answered(() => nodes.remove(id)),
    claim: (session, owner, takeFrom) =>
      attempted(() =>
        turns.alone(session, async () => {
          const row = rowOf(session)
          if (row === null) return notFound(session)
          if (row.trashedAt !== null) return refuse(faults.sessionTrashed(session))
          if (row.owner !== null && row.owner !== owner && row.owner !== takeFrom)
            return refuse(faults.sessionLocked(session, row.owner))
          await logs.of(row) // what a crash left behind is put right before anyone owns it
          row.owner = owner
          row.epoch += 1
          catalogue.changed(row)
          return ok({ epoch: row.epoch, head: row.head, base: row.base })
        }),
      ),
    release: (session, owner, epoch) =>
      answered(() =>
        turns.alone(session, async () => {
          const row = rowOf(session)
          if (row === null || row.owner !== owner || row.epoch !== epoch) return
          row.owner = null
          row.epoch += 1
          catalogue.changed(row)
        }),
      ),

    saveDraft: (session, epoch, draft) =>
      attempted(() =>
        turns.alone(session, async () => {
          const row = rowOf(session)
          if (row === null) return notFound(session)
          if (row.epoch !== epoch) return refuse(faults.fenced(session, epoch, row.epoch))
          await drafts.save(session, row.head, draft)
          return done
        }),
      ),
    loadDraft: (session) =>
      answered(async () => {
        const row = rowOf(session)
        return row === null ? null : drafts.load(session, (await logs.of(row)).draftEndedAt)
      }),
    async saveSnapshot(session, snapshot) {
      // A fault is dropped: without a snapshot the next load takes longer, and nothing else.
      if (closing === null && rowOf(session) !== null) await snapshots.save(session, snapshot).catch(() => undefined)
    },
    loadSnapshot: (session, fold) =>
      answered(async () => {
        const snapshot = await snapshots.load(session)
        return snapshot?.fold === fold ? snapshot : null
      }),
    workspaceTrust: (workspace) => answered(async () => trusts.of(workspace)),
    probe: () =>
      attempted(async () => {
        await rm(await writeTemporaryFile(join(directory, 'probe'), probeText))
        return done
      }),
    async close() {
      closing ??= parts.close()
      await closing
    },
  }
}

/** Puts sessions into the trash and takes them out again. Its caller sees to it that nobody changes them meanwhile. */
export function createTrasher(rows: ReadonlyMap<SessionId, SessionRow>, file: TrashFile) {
  for (const [id, at] of file.all()) {
    const row = rows.get(id)
    if (row?.isShared === false) row.trashedAt = at
    else file.forget(id)
  }

  async function move(session: SessionId, at: number | null): Promise<Result<void>> {
    const row = rows.get(session)
    if (row === undefined || row.isShared) return refuse(sessionNotFound(session))
    if (at !== null && row.owner !== null) return refuse(sessionLocked(session, row.owner))
    if ((row.trashedAt === null) === (at === null)) return done
    await (at === null ? file.remove(session) : file.put(session, at))
    row.trashedAt = at
    return done
  }

  return {
    trash: (session: SessionId, at: number): Promise<Result<void>> => move(session, at),
    restore: (session: SessionId): Promise<Result<void>> => move(session, null),
  }
}
