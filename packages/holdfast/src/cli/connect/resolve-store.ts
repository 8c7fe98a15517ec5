import { existsSync } from 'node:fs'
import { fault } from '@holdfast/protocol/fault'
import { ok, orThrow, type Result } from '@holdfast/protocol/result'
import type { BlobReader } from '../../store/blobs/file-blobs.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { describeSavedCopies, findSavedCopies } from '../../store/open/saved-copies.ts'
import {
  type DiskLocation,
  isOnDisk,
  parseDiskUrl,
  parseSavedUrl,
  parseStoreUrl,
  type SavedLocation,
} from '../../store/open/store-location.ts'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { storeOf } from '../../system/home.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { failWith } from '../terminal/exit.ts'
import { isRunning, readServerFile, type ServerFile } from './server-file.ts'

/** Returns the store a command was given, else the one of the running server, else the one of the home. */
export function resolveDiskStore({ home, store }: Pick<CliContext, 'home' | 'store'>): Result<DiskLocation> {
  return parseDiskUrl(store ?? servedStore(home), home)
}

/** The same, also for a store in a database. */
export const resolveSavedStore = ({ home, store }: Pick<CliContext, 'home' | 'store'>): Result<SavedLocation> =>
  parseSavedUrl(store ?? servedStore(home), home)

function servedStore(home: CliContext['home']): string | undefined {
  const server = readServerFile(home)
  return server !== null && isRunning(server) ? server.store : undefined
}

/** Fails if `--store` names a store that does not exist. The default store may be missing: it is then empty. */
export function rejectMissingStore({ home, store, environment }: CliContext): void {
  if (store === undefined || store === storeOf(environment)) return
  const named = parseStoreUrl(store, home)
  if (!named.ok || named.value.kind === 'memory' || !isOnDisk(named.value)) return
  if (existsSync(named.value.path)) return
  const { url } = named.value
  failWith(fault('not_found', `The store ${url} does not exist. Check the path given with --store.`, { store: url }))
}

/** Returns whether there is a store. A database is asked only when it is opened. */
export function isStoreThere(context: Pick<CliContext, 'home' | 'store'>): boolean {
  const location = orThrow(resolveSavedStore(context))
  return !isOnDisk(location) || existsSync(location.path)
}

/** Opens the store for reading on this thread; null if it does not exist yet. */
export async function openStoreToRead(context: CliContext): Promise<StoreToRead | null> {
  const location = orThrow(resolveSavedStore(context))
  rejectMissingStore(context)
  const source = orThrow(await openReadOnlyStore(location))
  if (isOnDisk(location)) {
    const copies = await findSavedCopies(location)
    if (copies.length > 0) await context.err.tell(describeSavedCopies(location, copies))
  }
  return (
    source && {
      source,
      openBlobs: async () =>
        (await import('../../store/open/open-blobs.ts')).openBlobsToRead(location, context.environment),
    }
  )
}

export type StoreToRead = {
  readonly source: ReadOnlyStore
  /** Opens the blobs of the store. */
  readonly openBlobs: () => Promise<BlobReader & AsyncDisposable>
}

/** Returns whether the server has the store that was asked for; without a request, its store is the one. */
export function isServedStore(
  context: Pick<CliContext, 'home' | 'store'>,
  { store }: Pick<ServerFile, 'store'>,
): Result<boolean> {
  if (context.store === undefined) return ok(true)
  const asked = parseStoreUrl(context.store, context.home)
  if (!asked.ok) return asked
  const served = parseStoreUrl(store, context.home)
  return ok(served.ok && served.value.kind !== 'memory' && served.value.url === asked.value.url)
}
