import {
  errorMessage,
  fault,
  HoldfastError,
  ok,
  orThrow,
  parseOptions,
  type Result,
  refuse,
  type Stats,
  StatsOptions,
} from '@holdfast/protocol'
import {
  type DiskLocation,
  isOnDisk,
  notOnDisk,
  type SavedLocation,
  type StoreLocation,
} from '../../store/open/store-location.ts'
import type { Environment } from '../../system/home.ts'
import { findScript, startThread } from '../../system/start-thread.ts'
import type { Backup } from '../backup/backup-store.ts'
import type { StoreReport } from '../doctor/check-store.ts'
import { limitDays } from '../stats/count-store.ts'
import type { Job, JobAnswers } from './job-worker.ts'

/** Admin work on a store in use; each job runs on a thread of its own. */
export interface Admin {
  /** Counts messages, usage and storage by day, model and workspace. */
  stats(options?: StatsOptions): Promise<Stats>
  /** Copies the current state of the store to a path that does not exist, and reads the copy back. */
  backup(path: string): Promise<Backup>
  /** Checks the whole store. Changes nothing. */
  doctor(): Promise<StoreReport>
}

const daysDefault = 30
const daysMax = 3660

/** Creates the admin jobs of a store. `close` stops jobs that only read, and waits for jobs that write. */
export function createAdmin(location: StoreLocation, now: () => number, environment: Environment) {
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const saved = () => orThrow(requireSaved(location))
  const onDisk = () => orThrow(requireDisk(saved()))

  async function track<Value>(work: Promise<Result<Value>>): Promise<Value> {
    running.add(work)
    return orThrow(await work.finally(() => running.delete(work)))
  }
  /** Reads every record of a model call, so concurrent requests share one count. */
  let counting: Promise<Stats> | null = null
  const count = (): Promise<Stats> => {
    counting ??= track(
      runJobThread<'stats'>({ type: 'stats', location: saved(), days: daysMax, nowMs: now() }, closing.signal),
    ).finally(() => {
      counting = null
    })
    return counting
  }

  const admin: Admin = {
    async stats(given = {}) {
      const { days = daysDefault } = orThrow(parseOptions(StatsOptions, given, 'count'))
      return limitDays(await count(), { days, nowMs: now() })
    },
    backup: async (to) => track(runJobThread<'backup'>({ type: 'backup', location: onDisk(), to })),
    doctor: async () =>
      track(
        runJobThread<'check'>({ type: 'check', location: saved(), environment: { ...environment } }, closing.signal),
      ),
  }

  return {
    admin,
    async close() {
      closing.abort()
      await Promise.all(running)
    },
  }
}

const requireDisk = (location: SavedLocation): Result<DiskLocation> =>
  isOnDisk(location) ? ok(location) : refuse(notOnDisk(location))

function requireSaved(location: StoreLocation): Result<SavedLocation> {
  if (location.kind !== 'memory' && location.kind !== 'own') return ok(location)
  const what =
    location.kind === 'memory' ? 'A memory: store has no files.' : 'Holdfast does not know the files of your own store.'
  return refuse(fault('bad_request', `${what} Use a sqlite: or jsonl: store.`, { store: location.url }))
}

/** Runs `work`; a thrown HoldfastError becomes a refusal. */
export async function toResult<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  }
}

/** Runs a job on its own thread, so that running sessions do not wait for it. An abort stops it at once. */
export function runJobThread<Type extends Job['type']>(
  job: Extract<Job, { readonly type: Type }>,
  signal?: AbortSignal,
): Promise<Result<JobAnswers[Type]>> {
  return new Promise((resolve) => {
    const worker = startThread(script, { workerData: job })
    const fail = (why: string) => resolve(refuse(fault('internal', `The ${job.type} of the store failed: ${why}.`)))
    let answer: Result<JobAnswers[Type]> | null = null
    const stop = () => {
      answer ??= refuse(
        fault('session_stopped', `The ${job.type} of the store was stopped because the store is closing.`),
      )
      void worker.terminate()
    }
    worker.on('message', (result: Result<JobAnswers[Type]>) => {
      answer ??= result
    })
    worker.on('error', (cause) => fail(errorMessage(cause)))
    // Resolve only now: until the worker exits it may have the store open.
    worker.on('exit', (code) => {
      signal?.removeEventListener('abort', stop)
      if (answer === null) fail(`code ${code}`)
      else resolve(answer)
    })
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}

const script = findScript('./job-worker', import.meta.url)
