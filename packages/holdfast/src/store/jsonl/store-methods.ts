import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobUses, ReadRecord } from '@holdfast/core/ports'
import type { CommandId, Recorded, SessionId } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import type { PlacedStore } from '../list-cursor.ts'
import { listSessions } from '../memory/memory-catalogue.ts'
import { probeText } from '../probe-text.ts'
import { faultOf, storageFault } from '../storage-fault.ts'
import * as faults from '../store-faults.ts'
import type { CatalogueFile } from './catalogue/catalogue-file.ts'
import { createFindRows } from './catalogue/find-rows.ts'
import { createLogSearch } from './catalogue/scan-logs.ts'
import type { SessionNames } from './catalogue/session-names.ts'
import { writeDraft } from './files/atomic-side-file.ts'
import type { DraftFiles } from './files/draft-files.ts'
import type { NodeFile } from './files/node-file.ts'
import type { SnapshotFiles } from './files/snapshot-files.ts'
import type { TrustFile } from './files/trust-file.ts'
import type { createLogReader } from './log/log-reader.ts'
import type { OpenLogs } from './log/open-logs.ts'
import type { SessionRow } from './log/session-row.ts'
import type { createCreator } from './write/create-session.ts'
import type { createRemover } from './write/remove-session.ts'
import type { SessionQueue } from './write/session-queue.ts'
import type { createTrasher } from './write/trash-session.ts'

export type JsonlMethodsDeps = {
  readonly directory: string
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly names: SessionNames
  readonly turns: SessionQueue
  readonly logs: OpenLogs
  readonly reader: ReturnType<typeof createLogReader>
  readonly creator: ReturnType<typeof createCreator>
  readonly remover: ReturnType<typeof createRemover>
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
        await rm(await writeDraft(join(directory, 'probe'), probeText))
        return done
      }),
    async close() {
      closing ??= parts.close()
      await closing
    },
  }
}
