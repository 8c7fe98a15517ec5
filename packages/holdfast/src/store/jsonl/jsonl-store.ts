import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Catalogue, Drafts, Leases, Log, ReadRecord, SpendingRows, Store, TokenRows } from '@holdfast/core/ports'
import type { CommandId, Recorded, SessionId } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import type { FileLock } from '../../system/files/file-lock.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { probeText } from '../disk.ts'
import { listSessions } from '../memory/memory-catalogue.ts'
import { faultOf, storageFault } from '../storage-fault.ts'
import * as faults from '../store-faults.ts'
import { findRows } from './catalogue/session-names.ts'
import { lockDirectory } from './files/directory-lock.ts'
import { createJsonlPaths, findDirectoryFault } from './files/layout.ts'
import { writeTemporaryFile } from './files/replace-file.ts'
import { loadDraft, saveDraft, saveSnapshot } from './files/side-files.ts'
import { findRow, listRows, type SessionRow } from './log/session-row.ts'
import { type JsonlFiles, type JsonlStoreOptions, openFiles } from './open-files.ts'

/**
 * Opens a directory of plain files as a store; creates it if needed. The `<id>.jsonl` logs are the only source of truth:
 * every other file can be deleted (without `trash.json`, trashed sessions are listed again; without `tokens.json`, all tokens are
 * revoked; without `spending.json`, there are no caps, and what purged sessions spent is forgotten). Only one process can hold
 * the directory. Faults: session_locked, not_a_store, store_too_new, storage_error.
 */
export async function openJsonlStore(options: JsonlStoreOptions): Promise<Result<Store>> {
  const paths = createJsonlPaths(resolve(options.directory))
  let lock: FileLock | null = null
  try {
    ensurePrivateDirectory(paths.directory)
    const refusal = await findDirectoryFault(paths)
    if (refusal !== null) return refuse(refusal)
    const locked = await lockDirectory(paths.directory, options.now(), 'store')
    if (!locked.ok) return locked
    lock = locked.value
    return ok(createStore(await openFiles(options, lock)))
  } catch (error) {
    lock?.release()
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, paths.directory))
  }
}

function createStore(files: JsonlFiles): Store {
  const { reader, trusts, blobUses } = files
  const { directory } = files.paths
  let closing: Promise<void> | null = null
  const guard = createGuard(directory, () => closing !== null)
  const { run, attempt } = guard
  return {
    ...createLog(files, guard),
    ...createCatalogue(files, guard),
    ...createLeases(files, guard),
    ...createDrafts(files, guard),
    loadSnapshot: (session, fold) => run(() => files.source.loadSnapshot(session, fold)),
    async saveSnapshot(session, snapshot) {
      // A failure is dropped: without a snapshot the next load only takes longer.
      if (closing !== null || findRow(files.rows, session) === null) return
      await saveSnapshot(files.paths, session, snapshot).catch(() => undefined)
    },
    workspaceTrust: (workspace) => run(async () => trusts.of(workspace)),
    ...createTokenRows(files, guard),
    ...createSpendingRows(files, guard),
    search: (request) => attempt(() => reader.search(request)),
    blobsInUse: (signal) => run(() => blobUses.blobsInUse(signal)),
    refersTo: (session, hash) => run(() => blobUses.refersTo(session, hash)),
    probe: () =>
      attempt(async () => {
        await rm(await writeTemporaryFile(join(directory, 'probe'), probeText))
        return done
      }),
    async close() {
      closing ??= files.close()
      await closing
    },
  }
}

type Guard = ReturnType<typeof createGuard>

function createGuard(directory: string, isClosed: () => boolean) {
  /** Runs a read; a disk error becomes a HoldfastError. */
  async function run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (isClosed()) throw new HoldfastError(storageFault(directory, 'io', { error: 'it is closed' }))
    try {
      return await work()
    } catch (error) {
      throw error instanceof HoldfastError ? error : new HoldfastError(faultOf(error, directory), { cause: error })
    }
  }
  /** Runs a change; a disk error becomes a fault. */
  async function attempt<Value>(work: () => Promise<Result<Value>>): Promise<Result<Value>> {
    try {
      return await run(work)
    } catch (error) {
      if (error instanceof HoldfastError) return refuse(error.toFault())
      throw error
    }
  }
  return { run, attempt }
}

function createLog({ rows, logs, reader, creator, queue }: JsonlFiles, { run, attempt }: Guard): Log {
  async function findCommand(session: SessionId, commandId: CommandId): Promise<Recorded | null> {
    const row = findRow(rows, session)
    if (row === null) return null
    const log = await logs.get(row)
    const seq = log.index.seqOf(commandId)
    const record: ReadRecord | undefined = seq === null ? undefined : (await log.read([seq]))[0]
    if (record === undefined || !('lost' in record)) return record ?? null
    const message = `Command ${commandId} was admitted at seq ${record.seq}, but its record is damaged.`
    throw new HoldfastError(fault('log_damaged', message, { session, seq: record.seq }))
  }

  return {
    create: (session) => attempt(() => creator.create(session)),
    append: (append) => attempt(() => queue.append(append)),
    read: (session, range) => run(() => reader.read(session, range)),
    readRefs: (session, calls) => run(() => reader.readRefs(session, calls)),
    findCommand: (session, commandId) => run(() => findCommand(session, commandId)),
    commandHash: (session, commandId) =>
      run(async () => {
        const row = findRow(rows, session)
        return row === null ? null : (await logs.get(row)).index.hashOf(commandId)
      }),
  }
}

function createCatalogue(files: JsonlFiles, { run, attempt }: Guard): Catalogue {
  const { rows, names, source } = files
  return {
    list: (request) => run(async () => listSessions(listRows(rows), request)),
    find: (name) => run(async () => findRows(rows, names, name)),
    busy: () =>
      run(async () =>
        listRows(rows)
          .filter(({ entry, trashedAt }) => entry.busy && trashedAt === null)
          .map(({ id, owner }) => ({ session: id, owner })),
      ),
    entry: (session) => run(() => source.entry(session)),
    removeUnspoken: (owners) => run(() => removeUnspoken(files, owners)),
    trash: (session, at) => attempt(() => setTrashed(files, session, at)),
    restore: (session) => attempt(() => setTrashed(files, session, null)),
    purge: (session, options) => attempt(() => purge(files, session, options)),
  }
}

async function removeUnspoken(files: JsonlFiles, owners: readonly string[]): Promise<number> {
  const { rows, queue, remover } = files
  await untilRemovable(files)
  const isUnspoken = ({ id, entry, owner }: SessionRow): boolean =>
    !entry.spoken && (owner === null || owners.includes(owner)) && !remover.hasForks(id)
  const removals = listRows(rows)
    .filter(isUnspoken)
    .map((row) =>
      queue.runExclusive(row.id, async () => {
        if (findRow(rows, row.id) !== row || !isUnspoken(row)) return 0
        await removeSession(files, row)
        return 1
      }),
    )
  return (await Promise.all(removals)).reduce<number>((sum, one) => sum + one, 0)
}

/** Moves a session to the trash, or out of it when `at` is null. */
const setTrashed = ({ rows, queue, trash }: JsonlFiles, session: SessionId, at: number | null): Promise<Result<void>> =>
  queue.runExclusive(session, async () => {
    const row = findRow(rows, session)
    if (row === null) return notFound(session)
    if (at !== null && row.owner !== null) return refuse(faults.sessionLocked(session, row.owner))
    if ((row.trashedAt === null) === (at === null)) return done
    await trash.change(session, at)
    row.trashedAt = at
    return done
  })

async function purge(files: JsonlFiles, ...[session, options]: Parameters<Catalogue['purge']>): Promise<Result<void>> {
  const { rows, queue } = files
  await untilRemovable(files)
  return queue.runExclusive(session, async () => {
    const row = findRow(rows, session)
    if (row === null) return notFound(session)
    if (options !== undefined && row.trashedAt !== options.trashedAt)
      return refuse(faults.sessionNotTrashed(session, row.trashedAt))
    if (row.owner !== null) return refuse(faults.sessionLocked(session, row.owner))
    await removeSession(files, row)
    return done
  })
}

/** Waits until no fork of an existing session is being created, and no log is read for a sum. */
async function untilRemovable({ creator, trusts, ledger }: JsonlFiles): Promise<void> {
  await Promise.all([creator.settled(), trusts.settled()])
  await ledger.settled()
}

const createTokenRows = ({ tokens }: JsonlFiles, { run, attempt }: Guard): TokenRows => ({
  addToken: (token) => attempt(() => tokens.add(token).then(() => done)),
  tokens: () => run(async () => tokens.all()),
  removeToken: (id) => attempt(async () => ok(await tokens.remove(id))),
  touchToken: (id, at) => attempt(() => tokens.touch(id, at).then(() => done)),
})

const createSpendingRows = ({ ledger, spendingFile: file }: JsonlFiles, { run, attempt }: Guard): SpendingRows => ({
  addCharge: (charge) => attempt(() => ledger.addCharge(charge).then(() => done)),
  spentOn: (day, of) => run(() => ledger.spentOn(day, of)),
  listSpending: (day, limit) => run(() => ledger.listSpending(day, limit)),
  caps: () => run(async () => file.caps()),
  setCap: (cap) => attempt(() => file.setCap(cap).then(() => done)),
  removeCap: (scope) => attempt(async () => ok(await file.removeCap(scope))),
})

/** Removes a session. What it spent still counts. */
async function removeSession({ logs, remover, spendingFile }: JsonlFiles, row: SessionRow): Promise<void> {
  // A log that cannot be read is removed all the same.
  const charges = await logs.get(row).then(
    ({ index }) => index.charges(),
    () => [],
  )
  await spendingFile.outliving(row.id, charges, () => remover.remove(row))
}

const notFound = (session: SessionId) => refuse(faults.sessionNotFound(session))

function createLeases({ rows, logs, catalogue, queue, nodes }: JsonlFiles, { run, attempt }: Guard): Leases {
  return {
    registerNode: (node) => run(() => nodes.put(node)),
    nodes: () => run(async () => nodes.all()),
    removeNode: (id) => run(() => nodes.remove(id)),
    claim: (session, owner, takeFrom) =>
      attempt(() =>
        queue.runExclusive(session, async () => {
          const row = findRow(rows, session)
          if (row === null) return notFound(session)
          if (row.trashedAt !== null) return refuse(faults.sessionTrashed(session))
          if (row.owner !== null && row.owner !== owner && row.owner !== takeFrom)
            return refuse(faults.sessionLocked(session, row.owner))
          await logs.get(row) // repairs what a crash left behind, before anyone owns the session
          row.owner = owner
          row.epoch += 1
          catalogue.changed(row)
          return ok({ epoch: row.epoch, head: row.head, base: row.base })
        }),
      ),
    release: (session, owner, epoch) =>
      run(() =>
        queue.runExclusive(session, async () => {
          const row = findRow(rows, session)
          if (row === null || row.owner !== owner || row.epoch !== epoch) return
          row.owner = null
          row.epoch += 1
          catalogue.changed(row)
        }),
      ),
  }
}

function createDrafts({ paths, rows, logs, queue }: JsonlFiles, { run, attempt }: Guard): Drafts {
  return {
    saveDraft: (session, epoch, draft) =>
      attempt(() =>
        queue.runExclusive(session, async () => {
          const row = findRow(rows, session)
          if (row === null) return notFound(session)
          if (row.epoch !== epoch) return refuse(faults.fenced(session, epoch, row.epoch))
          await saveDraft(paths, session, row.head, draft)
          return done
        }),
      ),
    loadDraft: (session) =>
      run(async () => {
        const row = findRow(rows, session)
        return row === null ? null : loadDraft(paths, session, (await logs.get(row)).draftEndedAt)
      }),
  }
}
