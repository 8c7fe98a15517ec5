import type { OnProblem } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import { parseDiskUrl } from '../../store/open/store-location.ts'
import { type Environment, findHome } from '../../system/home.ts'
import type { Backup } from '../backup/backup-store.ts'
import type { StoreReport } from '../doctor/check-store.ts'
import { type Migration, type MigrationProgress, migrate } from '../migrate/migrate-store.ts'
import { runJobThread } from './run-job.ts'

type Placed = {
  /** Where the user's own store lies, whose blobs are beside it; the process's own by default. */
  readonly environment?: Environment | undefined
}

/** This is where a program begins that opens no runtime: the environment is its own unless it says otherwise. */
const placeOf = (url: string, environment: Environment = process.env) =>
  orThrow(parseDiskUrl(url, findHome(environment)))

export type MigrateStoreOptions = Placed & {
  readonly from: string
  readonly to: string
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined
  readonly onProblem?: OnProblem | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Copies a store into another that is empty, `sqlite:PATH` or `jsonl:DIR`, and compares the two record by record. It reads
 * and compares on the thread that called it, page after page: not for a program that answers others meanwhile.
 */
export async function migrateStore(options: MigrateStoreOptions): Promise<Migration> {
  const { from, to, environment, onProblem = warn, ...more } = options
  return orThrow(await migrate({ ...more, from: placeOf(from, environment), to: placeOf(to, environment), onProblem }))
}

export type CheckStoreOptions = Placed & {
  /** Mends what can be mended. Refused while another process has the store. */
  readonly repair?: boolean | undefined
}

/** Looks through a store that nobody need have open, on a thread of its own; with `repair` mends what can be mended. */
export async function checkStore(url: string, options: CheckStoreOptions = {}): Promise<StoreReport> {
  const { repair = false, environment } = options
  return orThrow(await runJobThread<'check'>({ type: 'check', place: placeOf(url, environment), repair }))
}

/** Copies a store as it is now, whoever writes in it, on a thread of its own. */
export async function backupStore(url: string, to: string, { environment }: Placed = {}): Promise<Backup> {
  return orThrow(await runJobThread<'backup'>({ type: 'backup', place: placeOf(url, environment), to }))
}

/** A program that listens for no problems still sees them. */
const warn: OnProblem = ({ where, cause }) => process.emitWarning(`${where}: ${String(cause)}`, 'HoldfastProblem')
