import type { OnProblem } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import { parseDiskUrl, parseSavedUrl } from '../../store/open/store-location.ts'
import { type Environment, findHome } from '../../system/home.ts'
import type { Backup } from '../backup/backup-store.ts'
import type { StoreReport } from '../doctor/check-store.ts'
import { type Migration, type MigrationProgress, migrate } from '../migrate/migrate-store.ts'
import { runJobThread } from './admin.ts'

/** Where the user's own store is. */
export type HomeOptions = {
  /** Locates the user's own store and its blobs; `process.env` by default. */
  readonly environment?: Environment | undefined
}

const environmentOf = (environment: Environment = process.env) => environment
const homeOf = (environment?: Environment) => findHome(environmentOf(environment))
const parseLocation = (url: string, environment?: Environment) => orThrow(parseDiskUrl(url, homeOf(environment)))

/** Which store to copy, and where to. */
export type MigrateStoreOptions = HomeOptions & {
  /** The store to read, as `sqlite:PATH`, `jsonl:DIR` or `postgres://HOST/DATABASE`. */
  readonly from: string
  /** The store to write, as `sqlite:PATH`, `jsonl:DIR` or `postgres://HOST/DATABASE`. */
  readonly to: string
  /** Called now and then with the sessions and records copied or compared so far. */
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined
  /** Called with unexpected errors, which are our bugs. */
  readonly onProblem?: OnProblem | undefined
  /** Stops the copy. A later call continues it. */
  readonly signal?: AbortSignal | undefined
}

/** Copies a store into an empty one and compares the two record by record. Runs on the calling thread. */
export async function migrateStore(options: MigrateStoreOptions): Promise<Migration> {
  const { environment, onProblem = warn, ...more } = options
  const home = homeOf(environment)
  const [from, to] = [orThrow(parseSavedUrl(options.from, home)), orThrow(parseSavedUrl(options.to, home))]
  return orThrow(await migrate({ ...more, from, to, onProblem, environment: environmentOf(environment) }))
}

/** Which store to check, and whether to repair it. */
export type CheckStoreOptions = HomeOptions & {
  /** Repairs what can be repaired. Refused while another process has the store open. */
  readonly repair?: boolean | undefined
}

/** Checks a store on a thread of its own; with `repair` repairs what can be repaired. */
export async function checkStore(url: string, options: CheckStoreOptions = {}): Promise<StoreReport> {
  const { repair = false, environment } = options
  const location = orThrow(parseSavedUrl(url, homeOf(environment)))
  return orThrow(
    await runJobThread<'check'>({ type: 'check', location, repair, environment: { ...environmentOf(environment) } }),
  )
}

/** Copies the current state of a store on a thread of its own, also while others write to it. */
export async function backupStore(url: string, to: string, { environment }: HomeOptions = {}): Promise<Backup> {
  return orThrow(await runJobThread<'backup'>({ type: 'backup', location: parseLocation(url, environment), to }))
}

/** Shows problems of a program that gave no `onProblem`. */
const warn: OnProblem = ({ where, cause }) => process.emitWarning(`${where}: ${String(cause)}`, 'HoldfastProblem')
