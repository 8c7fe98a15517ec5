import {
  fault,
  HoldfastError,
  ok,
  orThrow,
  type Result,
  refuse,
  type Stats,
  type StatsOptions,
} from '@holdfast/protocol'
import type { DiskLocation, StoreLocation } from '../../store/open/store-location.ts'
import type { Backup } from '../backup/backup-store.ts'
import type { StoreReport } from '../doctor/check-store.ts'
import { lastDays } from '../stats/count-store.ts'
import { runJobThread } from './run-job.ts'

/** What keeps a store in order while sessions go on in it; each on a thread of its own. */
export interface Admin {
  /** How much was said, used and kept, by day, model and workspace. */
  stats(options?: StatsOptions): Promise<Stats>
  /** Copies the store as it is now to a path where nothing is, and reads the copy back. */
  backup(path: string): Promise<Backup>
  /** Looks through the whole store, and changes nothing. */
  doctor(): Promise<StoreReport>
}

const daysDefault = 30
const daysMax = 3660

/** `close` ends what only reads, and waits for what writes. */
export type OpenAdmin = { readonly upkeep: Admin; readonly close: () => Promise<void> }

export function createAdmin(place: StoreLocation, now: () => number): OpenAdmin {
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const onDisk = () => orThrow(diskOf(place))

  async function follow<Value>(work: Promise<Result<Value>>): Promise<Value> {
    running.add(work)
    return orThrow(await work.finally(() => running.delete(work)))
  }
  /** Every record that tells of a call is read: whoever asks meanwhile gets the same answer. */
  let counting: Promise<Stats> | null = null
  const count = (): Promise<Stats> => {
    counting ??= follow(
      runJobThread<'stats'>({ type: 'stats', place: onDisk(), days: daysMax, nowMs: now() }, closing.signal),
    ).finally(() => {
      counting = null
    })
    return counting
  }

  return {
    upkeep: {
      stats: async ({ days = daysDefault } = {}) => lastDays(await count(), { days, nowMs: now() }),
      backup: async (to) => follow(runJobThread<'backup'>({ type: 'backup', place: onDisk(), to })),
      doctor: async () => follow(runJobThread<'check'>({ type: 'check', place: onDisk() }, closing.signal)),
    },
    async close() {
      closing.abort()
      await Promise.all(running)
    },
  }
}

function diskOf(place: StoreLocation): Result<DiskLocation> {
  if (place.kind !== 'memory') return ok(place)
  return refuse(fault('bad_request', 'A store in memory: has nothing on disk to look after.', { store: place.url }))
}

/** A refusal as a value, for whoever stands at a door. */
export async function refusable<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  }
}
