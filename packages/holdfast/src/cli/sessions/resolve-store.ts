import { existsSync } from 'node:fs'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result } from '@holdfast/protocol/result'
import { type DiskLocation, parseDiskUrl, parseStoreUrl, type StoreLocation } from '../../store/open/store-location.ts'
import { storeOf } from '../../system/home.ts'
import type { CliContext } from '../context/cli-context.ts'
import { isRunning, readServerFile, type ServerFile } from './server-file.ts'

/** The store a command was given, else that of the running server of this home, else that of the home. */
export function storeOfPlace({ home, store }: Pick<CliContext, 'home' | 'store'>): Result<StoreLocation> {
  return parseStoreUrl(store ?? servedStore(home), home)
}

/** The same, for commands that read a store or keep it in order. */
export function diskStoreOf({ home, store }: Pick<CliContext, 'home' | 'store'>): Result<DiskLocation> {
  return parseDiskUrl(store ?? servedStore(home), home)
}

/** What is wrong with a store that the command line names and that is not there. One nobody named begins empty. */
export function missingStore({
  home,
  store,
  environment,
}: Pick<CliContext, 'home' | 'store' | 'environment'>): Fault | null {
  if (store === undefined || store === storeOf(environment)) return null
  const named = parseStoreUrl(store, home)
  if (!named.ok || named.value.kind === 'memory' || existsSync(named.value.path)) return null
  return fault('not_found', `There is no store ${named.value.url}.`, { store: named.value.url })
}

function servedStore(home: CliContext['home']): string | undefined {
  const server = readServerFile(home)
  return server !== null && isRunning(server) ? server.store : undefined
}

/** Whether this server has the store that was asked for; whoever asked for none takes what the server has. */
export function isOfServer(
  place: Pick<CliContext, 'home' | 'store'>,
  { store }: Pick<ServerFile, 'store'>,
): Result<boolean> {
  if (place.store === undefined) return ok(true)
  const asked = parseStoreUrl(place.store, place.home)
  if (!asked.ok) return asked
  const served = parseStoreUrl(store, place.home)
  return ok(served.ok && served.value.kind !== 'memory' && served.value.url === asked.value.url)
}
