import { existsSync } from 'node:fs'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskLocation, parseDiskUrl, parseStoreUrl } from '../../store/open/store-location.ts'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { storeOf } from '../../system/home.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { isRunning, readServerFile, type ServerFile } from './server-file.ts'

/** Returns the store a command was given, else the one of the running server, else the one of the home. */
export function resolveDiskStore({ home, store }: Pick<CliContext, 'home' | 'store'>): Result<DiskLocation> {
  return parseDiskUrl(store ?? servedStore(home), home)
}

function servedStore(home: CliContext['home']): string | undefined {
  const server = readServerFile(home)
  return server !== null && isRunning(server) ? server.store : undefined
}

/** Returns a fault if `--store` names a store that does not exist. The default store may be missing: it is then empty. */
export function missingStore({
  home,
  store,
  environment,
}: Pick<CliContext, 'home' | 'store' | 'environment'>): Fault | null {
  if (store === undefined || store === storeOf(environment)) return null
  const named = parseStoreUrl(store, home)
  if (!named.ok || named.value.kind === 'memory' || existsSync(named.value.path)) return null
  const { url } = named.value
  return fault('not_found', `The store ${url} does not exist. Check the path given with --store.`, { store: url })
}

/** Opens the store for reading on this thread; null if it does not exist yet. */
export async function openStoreToRead(context: CliContext): Promise<Result<StoreToRead | null>> {
  const location = resolveDiskStore(context)
  if (!location.ok) return location
  const missing = missingStore(context)
  if (missing !== null) return refuse(missing)
  const source = await openReadOnlyStore(location.value)
  if (!source.ok || source.value === null) return source.ok ? ok(null) : source
  return ok({ source: source.value, blobsDir: location.value.blobsDir })
}

export type StoreToRead = { readonly source: ReadOnlyStore; readonly blobsDir: string }

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
