import type { OnProblem } from '@holdfast/core/ports'
import { type Fault, fault, HoldfastError, ok, orThrow, type Result, refuse, type SessionId } from '@holdfast/protocol'
import { createBlobReader } from '../../store/blobs/file-blobs.ts'
import { refusalInside } from '../../store/open/inside-store.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskStore, openDiskStore } from '../../store/open/open-storage.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { workIn } from '../../store/open/store-use.ts'
import { everyRecord, everySession, type KeptSession, type ReadOnlyStore } from '../../store/read-only-store.ts'
import { commonHead, differenceOf } from './compare-sessions.ts'
import { type CopyDeps, copySession } from './copy-session.ts'
import { removeDeadDrafts } from './remove-dead-drafts.ts'
import { verifyBlobs } from './verify-blobs.ts'
import { writeTrusts } from './write-trusts.ts'

export type MigrationProgress = {
  readonly phase: 'copying' | 'verifying'
  readonly sessions: number
  readonly records: number
}

export type RefusedSession = { readonly session: SessionId; readonly why: string }

export type Migration = {
  readonly from: string
  readonly to: string
  /** Sessions that were copied now, and those that were there before and are the same. */
  readonly copied: number
  readonly kept: number
  /** Records that were read again on both sides and are the same. */
  readonly records: number
  readonly blobs: number
  readonly blobBytes: number
  /** Blobs that the source itself has lost. */
  readonly missingBlobs: readonly string[]
  /** Sessions that could not be copied, and why. The rest is there. */
  readonly refused: readonly RefusedSession[]
}

export type MigrateDeps = {
  readonly from: DiskLocation
  readonly to: DiskLocation
  readonly onProblem: OnProblem
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Copies a store into another, then reads both again and compares them record by record. The source is only read. What
 * an earlier run has copied is taken as it is where it is the same. Refused: session_locked while someone works in the
 * source, bad_request for a target that holds other sessions, what opening either refuses.
 */
export async function migrate(parts: MigrateDeps): Promise<Result<Migration>> {
  const { from, to } = parts
  if (from.path === to.path) return refuse(fault('bad_request', `${to.url} is the store itself.`, { store: to.url }))
  const inside = await refusalInside(from, to.path)
  if (inside !== null) return refuse(inside)
  const opened = await openReadOnlyStore(from)
  if (!opened.ok) return opened
  const source = opened.value
  if (source === null) return refuse(fault('not_found', `There is no store ${from.url}.`, { store: from.url }))
  try {
    const inUse = await workIn(from, source)
    if (inUse !== null) return refuse(inUse)
    const foreign = await foreignIn(to, source)
    if (foreign !== null) return refuse(foreign)
    return ok(await copyAll(source, parts))
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  } finally {
    await source.close()
  }
}

/** Why the target is not ours to fill: it holds sessions that the source does not have. */
async function foreignIn(to: DiskLocation, source: ReadOnlyStore): Promise<Fault | null> {
  const there = orThrow(await openReadOnlyStore(to))
  if (there === null) return null
  try {
    for await (const { id } of everySession(there)) {
      if ((await source.kept(id)) !== null) continue
      const message = `${to.url} already holds other sessions, such as ${id}; a store is migrated into an empty one.`
      return fault('bad_request', message, { store: to.url, session: id })
    }
    return null
  } finally {
    await there.close()
  }
}

type Count = { copied: number; kept: number; blobs: number; blobBytes: number }

async function copyAll(source: ReadOnlyStore, parts: MigrateDeps): Promise<Migration> {
  const { from, to, onProblem, onProgress, signal } = parts
  const refused = new Map<SessionId, string>()
  const count: Count = { copied: 0, kept: 0, blobs: 0, blobBytes: 0 }
  let records = 0
  const sourceBlobs = createBlobReader(from.blobsDir)
  const onBlob = (bytes: number) => {
    count.blobs += 1
    count.blobBytes += bytes
  }
  await removeDeadDrafts(to)
  const before = orThrow(await openReadOnlyStore(to))
  const opened = orThrow(await openDiskStore(to, onProblem))
  try {
    const copy: CopyDeps = {
      ...{ source, sourceBlobs, target: opened.store, targetBlobs: opened.blobs },
      onRecords: (more) => {
        records += more
        onProgress?.({ phase: 'copying', sessions: count.copied, records })
      },
      onBlob,
    }
    for await (const session of parentsFirst(source)) {
      if (signal?.aborted) break
      const why = await refusalOf(session, source, refused)
      if (why !== null) refused.set(session.id, why)
      else await bring(session, before, copy, { refused, count })
    }
    if (signal?.aborted !== true) await settle(source, refused, opened)
  } finally {
    await before?.close()
    await opened.store.close()
  }
  await writeTrusts(to, await source.trusts())
  const verified = await verify(source, to, refused, onProgress, signal)
  const missingBlobs = await verifyBlobs({ source, sourceBlobs, refused, to, onBlob, signal })
  return {
    ...{ from: from.url, to: to.url, ...count, records: verified, missingBlobs },
    refused: [...refused].map(([session, why]) => ({ session, why })),
  }
}

/** A session whose parent was born after it, by what the store says, comes once its parent has come; few do. */
async function* parentsFirst(source: ReadOnlyStore): AsyncGenerator<KeptSession> {
  let waiting = new Map<SessionId, KeptSession>()
  for await (const session of everySession(source)) {
    const parent = session.parent === null ? null : await source.kept(session.parent)
    if (parent !== null && (parent.order > session.order || waiting.has(parent.id))) waiting.set(session.id, session)
    else yield session
  }
  while (waiting.size > 0) {
    const all = waiting
    const ready = [...all.values()].filter(({ parent }) => parent === null || !all.has(parent))
    const come = new Set(ready.length > 0 ? ready : all.values()) // none is its own ancestor, unless the store is damaged
    yield* come
    waiting = new Map([...all].filter(([, session]) => !come.has(session)))
  }
}

/** Looked through before anything is written: what cannot be read cannot be copied. */
async function refusalOf(
  session: KeptSession,
  source: ReadOnlyStore,
  refused: ReadonlyMap<SessionId, string>,
): Promise<string | null> {
  const { parent, isPurged, entry } = session
  if (parent !== null && refused.has(parent)) return `it shares the past of ${parent}, which could not be copied`
  if (!isPurged && entry === null) return 'its row in the catalogue cannot be read; holdfast doctor --repair mends it'
  const lost: number[] = []
  for await (const record of everyRecord(source, session)) if ('lost' in record) lost.push(record.seq)
  return lost.length === 0 ? null : `records that cannot be read: ${lost.slice(0, 10).join(', ')}`
}

type Kept = { readonly refused: Map<SessionId, string>; readonly count: Count }

async function bring(
  session: KeptSession,
  before: ReadOnlyStore | null,
  copy: CopyDeps,
  { refused, count }: Kept,
): Promise<void> {
  const there = (await before?.kept(session.id)) ?? null
  if (before === null || there === null) {
    await copySession(session, null, copy)
    count.copied += 1
    return
  }
  const head = await commonHead(session, copy.source, there, before)
  if (head === null) refused.set(session.id, 'the target has another session of this id')
  else if (head === session.head && there.owner === null) count.kept += 1
  else {
    await copySession(session, head, copy)
    count.copied += 1
  }
}

/** Once forks are there, what was removed but for them is removed here too; then the trash is as it was. */
async function settle(
  source: ReadOnlyStore,
  refused: ReadonlyMap<SessionId, string>,
  { store }: DiskStore,
): Promise<void> {
  for await (const { id, isPurged, trashedAt } of everySession(source)) {
    if (refused.has(id)) continue
    const there = await store.entry(id)
    if (there === null) continue
    if (isPurged) orThrow(await store.purge(id))
    else if (trashedAt !== null) orThrow(await store.trash(id, trashedAt))
  }
}

/** Reads both sides again, as they are on the disk now; returns how many records are the same. */
async function verify(
  source: ReadOnlyStore,
  to: DiskLocation,
  refused: Map<SessionId, string>,
  onProgress: MigrateDeps['onProgress'],
  signal: AbortSignal | undefined,
): Promise<number> {
  const target = orThrow(await openReadOnlyStore(to))
  if (target === null) return 0
  let [sessions, records] = [0, 0]
  try {
    for await (const session of everySession(source)) {
      if (signal?.aborted) break
      if (refused.has(session.id)) continue
      const there = await target.kept(session.id)
      if (there === null && session.isPurged) continue // none of its forks could be copied
      const difference = there === null ? 'it is not there' : differenceOf(session, there)
      const isSame = there !== null && (await commonHead(session, source, there, target)) === session.head
      if (difference !== null || !isSame) refused.set(session.id, `after copying, ${difference ?? 'a record differs'}`)
      else records += session.head - session.base
      sessions += 1
      onProgress?.({ phase: 'verifying', sessions, records })
    }
    return records
  } finally {
    await target.close()
  }
}
