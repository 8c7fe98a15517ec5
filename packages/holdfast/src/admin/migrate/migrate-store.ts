import type { OnProblem } from '@holdfast/core/ports'
import { type Fault, fault, HoldfastError, ok, orThrow, type Result, refuse, type SessionId } from '@holdfast/protocol'
import { findBusyFault, findInsideFault } from '../../store/open/admin-of.ts'
import { openBlobsToRead } from '../../store/open/open-blobs.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskStore, openSavedStore } from '../../store/open/open-storage.ts'
import { isOnDisk, type SavedLocation } from '../../store/open/store-location.ts'
import {
  countRecords,
  everyRecord,
  everySession,
  type ReadOnlyStore,
  type StoreSession,
} from '../../store/read-only-store.ts'
import type { Environment } from '../../system/home.ts'
import { type CopyDeps, copySession, findCommonHead, verifyBlobs, verifyRecords } from './copy-session.ts'
import { copyRules, copySpending, copyTokens, findTenant, removeTemporaryStores, writeTrusts } from './target-files.ts'

/** How far a migration is. */
export type MigrationProgress = {
  /** Whether it copies, or compares the copy. */
  readonly phase: 'copying' | 'verifying'
  /** The sessions of this phase so far. */
  readonly sessions: number
  /** The records of this phase so far. */
  readonly records: number
  /** The records of the source, including those that an earlier run has copied. */
  readonly total: number
}

/** A session that was not copied, and why. */
export type RefusedSession = { readonly session: SessionId; readonly why: string }

/** The result of a migration. */
export type Migration = {
  /** The store that was read. */
  readonly from: string
  /** The store that was written. */
  readonly to: string
  /** How many sessions were copied now. */
  readonly copied: number
  /** How many sessions an earlier run had already copied. */
  readonly kept: number
  /** Records that were read again in both stores and are equal. */
  readonly records: number
  /** How many files were copied. */
  readonly blobs: number
  /** The size of these files. */
  readonly blobBytes: number
  /** Blobs that the source has lost. */
  readonly missingBlobs: readonly string[]
  /** Permission rules of the source that were not copied: only a PostgreSQL store has some, others use the user's file. */
  readonly rulesLeft: number
  /** Sessions that could not be copied, and why. All others were copied. */
  readonly refused: readonly RefusedSession[]
}

export type MigrateDeps = {
  readonly from: SavedLocation
  readonly to: SavedLocation
  readonly onProblem: OnProblem
  /** Has the keys of a place for files. */
  readonly environment?: Environment | undefined
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Copies a store into another, or continues a copy, then compares both record by record. Faults: session_locked while a
 * session of the source is open, bad_request if the target holds other sessions, and those of opening either store.
 */
export async function migrate(deps: MigrateDeps): Promise<Result<Migration>> {
  const { from, to } = deps
  if (from.url === to.url || (isOnDisk(from) && isOnDisk(to) && from.path === to.path))
    return refuse(fault('bad_request', `${to.url} is the source itself. Give another target.`, { store: to.url }))
  const inside = isOnDisk(from) && isOnDisk(to) ? await findInsideFault(from, to.path) : null
  if (inside !== null) return refuse(inside)
  const opened = await openReadOnlyStore(from)
  if (!opened.ok) return opened
  const source = opened.value
  if (source === null) return refuse(fault('not_found', `There is no store ${from.url}.`, { store: from.url }))
  try {
    const inUse = await findBusyFault(from, source)
    if (inUse !== null) return refuse(inUse)
    const shown = isOnDisk(to) ? await findTenant(from.url, source) : null
    if (shown !== null) return refuse(shown)
    const foreign = await findForeignSession(to, source)
    if (foreign !== null) return refuse(foreign)
    return ok(await copyAll(source, deps))
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  } finally {
    await source.close()
  }
}

/** Returns a fault if the target holds sessions that the source does not have. */
async function findForeignSession(to: SavedLocation, source: ReadOnlyStore): Promise<Fault | null> {
  const target = orThrow(await openReadOnlyStore(to))
  if (target === null) return null
  try {
    for await (const { id } of everySession(target)) {
      if ((await source.session(id)) !== null) continue
      const message = `${to.url} already holds other sessions, such as ${id}. Migrate into an empty store.`
      return fault('bad_request', message, { store: to.url, session: id })
    }
    return null
  } finally {
    await target.close()
  }
}

type Count = { copied: number; kept: number; blobs: number; blobBytes: number; rulesLeft: number }

async function copyAll(source: ReadOnlyStore, deps: MigrateDeps): Promise<Migration> {
  const { from, to, onProblem, onProgress, signal, environment } = deps
  const refused = new Map<SessionId, string>()
  const count: Count = { copied: 0, kept: 0, blobs: 0, blobBytes: 0, rulesLeft: 0 }
  let records = 0
  const total = onProgress ? await countRecords(source) : 0
  await using sourceBlobs = await openBlobsToRead(from, environment)
  const onBlob = (bytes: number) => {
    count.blobs += 1
    count.blobBytes += bytes
  }
  if (isOnDisk(to)) await removeTemporaryStores(to)
  const before = orThrow(await openReadOnlyStore(to))
  const opened = orThrow(await openSavedStore(to, onProblem, environment))
  try {
    const copy: CopyDeps = {
      source,
      sourceBlobs,
      target: opened.store,
      targetBlobs: opened.blobs,
      onRecords: (more) => {
        records += more
        onProgress?.({ phase: 'copying', sessions: count.copied, records, total })
      },
      onBlob,
    }
    for await (const session of parentsFirst(source)) {
      if (signal?.aborted) break
      const why = await findRefusal(session, source, refused)
      if (why !== null) refused.set(session.id, why)
      else await copyMissing(session, before, copy, refused, count)
    }
    if (signal?.aborted !== true) {
      await purgeAndTrash(source, refused, opened)
      await copyTokens(source, opened.store)
      await copySpending(source, opened.store)
      count.rulesLeft = await copyRules(source, opened.store)
    }
  } finally {
    await before?.close()
    await opened.store.close()
  }
  await writeTrusts(to, await source.trusts())
  const onVerified = (done: Omit<MigrationProgress, 'total'>) => onProgress?.({ ...done, total })
  const verified = await verifyRecords(source, to, refused, onVerified, signal)
  const missingBlobs = await verifyBlobs({ source, sourceBlobs, refused, to, onBlob, signal, environment })
  return {
    from: from.url,
    to: to.url,
    ...count,
    records: verified,
    missingBlobs,
    refused: [...refused].map(([session, why]) => ({ session, why })),
  }
}

/** Yields each session after its parent, also where the store says that the parent was created later. */
async function* parentsFirst(source: ReadOnlyStore): AsyncGenerator<StoreSession> {
  let waiting = new Map<SessionId, StoreSession>()
  for await (const session of everySession(source)) {
    const parent = session.parent === null ? null : await source.session(session.parent)
    if (parent !== null && (parent.order > session.order || waiting.has(parent.id))) waiting.set(session.id, session)
    else yield session
  }
  while (waiting.size > 0) {
    const all = waiting
    const ready = [...all.values()].filter(({ parent }) => parent === null || !all.has(parent))
    const next = new Set(ready.length > 0 ? ready : all.values()) // a cycle: the store is damaged
    yield* next
    waiting = new Map([...all].filter(([, session]) => !next.has(session)))
  }
}

/** Returns why a session cannot be copied, or null. Reads all its records before anything is written. */
async function findRefusal(
  session: StoreSession,
  source: ReadOnlyStore,
  refused: ReadonlyMap<SessionId, string>,
): Promise<string | null> {
  const { parent, isPurged, entry } = session
  if (parent !== null && refused.has(parent)) return `its parent ${parent} could not be copied`
  if (!isPurged && entry === null) return 'its catalogue row cannot be read; run holdfast doctor --repair'
  const lost: number[] = []
  for await (const record of everyRecord(source, session)) if ('lost' in record) lost.push(record.seq)
  return lost.length === 0 ? null : `records that cannot be read: ${lost.slice(0, 10).join(', ')}`
}

async function copyMissing(
  session: StoreSession,
  before: ReadOnlyStore | null,
  deps: CopyDeps,
  refused: Map<SessionId, string>,
  count: Count,
): Promise<void> {
  const copy = (await before?.session(session.id)) ?? null
  const head = before && copy ? await findCommonHead(session, deps.source, copy, before) : null
  if (copy !== null && head === null) refused.set(session.id, 'the target has a different session with this id')
  else if (head === session.head && copy?.owner === null) count.kept += 1
  else {
    await copySession(session, head, deps)
    count.copied += 1
  }
}

/** Purges and trashes what the source has purged and trashed, once all forks are copied. */
async function purgeAndTrash(
  source: ReadOnlyStore,
  refused: ReadonlyMap<SessionId, string>,
  { store }: Pick<DiskStore, 'store'>,
): Promise<void> {
  for await (const { id, isPurged, trashedAt } of everySession(source)) {
    if (refused.has(id)) continue
    if ((await store.entry(id)) === null) continue
    if (isPurged) orThrow(await store.purge(id))
    else if (trashedAt !== null) orThrow(await store.trash(id, trashedAt))
  }
}
