import { parentPort, workerData } from 'node:worker_threads'
import type { Result, Stats } from '@holdfast/protocol'
import type { DiskLocation, SavedLocation } from '../../store/open/store-location.ts'
import type { Environment } from '../../system/home.ts'
import { type Backup, backup } from '../backup/backup-store.ts'
import { check, type StoreReport } from '../doctor/check-store.ts'
import { countStore } from '../stats/count-store.ts'

if (parentPort === null) throw new Error('a job runs in a worker')

const job: Job = workerData // typed by runJobThread
parentPort.postMessage(await runJob(job))

/** Long work on a whole store. */
export type Job =
  | { readonly type: 'stats'; readonly location: SavedLocation; readonly days: number; readonly nowMs: number }
  | { readonly type: 'backup'; readonly location: DiskLocation; readonly to: string }
  | {
      readonly type: 'check'
      readonly location: SavedLocation
      readonly repair?: boolean
      readonly environment?: Environment | undefined
    }

export type JobAnswers = { readonly stats: Stats; readonly backup: Backup; readonly check: StoreReport }

function runJob(job: Job): Promise<Result<JobAnswers[Job['type']]>> {
  switch (job.type) {
    case 'stats':
      return countStore(job.location, job)
    case 'backup':
      return backup(job.location, job.to)
    case 'check':
      return check(job.location, job)
    default:
      return job satisfies never
  }
}
