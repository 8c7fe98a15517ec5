import type { Result, Stats } from '@holdfast/protocol'
import type { DiskLocation } from '../../store/open/store-location.ts'
import type { Backup } from '../backup/backup-store.ts'
import { backup } from '../backup/backup-store.ts'
import { check, type StoreReport } from '../doctor/check-store.ts'
import { countStore } from '../stats/count-store.ts'

/** Work on a whole store, which takes long and reads a disk all the while. */
export type Job =
  | { readonly type: 'stats'; readonly place: DiskLocation; readonly days: number; readonly nowMs: number }
  | { readonly type: 'backup'; readonly place: DiskLocation; readonly to: string }
  | { readonly type: 'check'; readonly place: DiskLocation; readonly repair?: boolean }

export type JobAnswers = { readonly stats: Stats; readonly backup: Backup; readonly check: StoreReport }

export function runJob(job: Job): Promise<Result<JobAnswers[Job['type']]>> {
  switch (job.type) {
    case 'stats':
      return countStore(job.place, job)
    case 'backup':
      return backup(job.place, job.to)
    case 'check':
      return check(job.place, job)
    default:
      return job satisfies never
  }
}
