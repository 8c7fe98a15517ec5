import type { Session } from '@holdfast/client'
import {
  ageMsMax,
  type ClearOptions,
  type DeleteOptions,
  dayMs,
  type EmptyTrashOptions,
  fault,
  HoldfastError,
  type ListOptions,
  type Meta,
  orThrow,
  type PruneOptions,
  type Removal,
  type SessionList,
  type Sessions,
} from '@holdfast/protocol'

const daysMax = ageMsMax / dayMs

export type PruneFurther = Pick<PruneOptions, 'workspace' | 'dryRun'>

/** Which sessions are kept, how they are called, and how they leave: into the trash, and after 30 days for good. */
export interface SessionAdmin {
  /** Puts a session into the trash. One that runs or is attended only with `force`: it is stopped first. */
  delete(name: string, options?: DeleteOptions): Promise<Removal>
  /** Everything into the trash but what runs, is attended, pinned or open in another process; says what stayed. */
  clearAll(options?: ClearOptions): Promise<Removal>
  /** The same, of sessions in which nobody spoke for so many days, or since `before`. */
  prune(age: number | { readonly before: Date | string }, options?: PruneFurther): Promise<Removal>
  cleanupOlderThan(date: Date | string, options?: PruneFurther): Promise<Removal>
  /** What is in the trash, last put there first. */
  trash(options?: Pick<ListOptions, 'workspace' | 'search' | 'limit' | 'cursor'>): Promise<SessionList>
  restore(name: string): Promise<Meta>
  /** Removes what is in the trash for good; with `before`, only what was put there before. */
  emptyTrash(options?: EmptyTrashOptions): Promise<Removal>
  /** Lists a session first and keeps it from prune and clearAll, or no longer; answers whether it is pinned now. */
  pinSession(name: string, pinned?: boolean): Promise<boolean>
  /** Names a session; an empty title gives it the first line of its first prompt again. */
  rename(name: string, title: string): Promise<void>
}

type Parts = {
  readonly sessions: Sessions
  readonly getSession: (name: string) => Promise<Session>
  readonly now: () => number
}

export function createSessionAdmin({ sessions, getSession, now }: Parts): SessionAdmin {
  const pruneBefore = async (before: Date | string, options: PruneFurther = {}) =>
    orThrow(await sessions.prune({ ...options, before: instantOf(before) }))
  return {
    delete: async (name, options) => orThrow(await sessions.delete(name, options)),
    clearAll: async (options) => orThrow(await sessions.clearAll(options)),
    prune: async (age, options) => pruneBefore(momentOf(age, now()), options),
    cleanupOlderThan: pruneBefore,
    trash: async (options) => orThrow(await sessions.list({ ...options, trashed: true })),
    restore: async (name) => orThrow(await sessions.restore(name)),
    emptyTrash: async (options) => orThrow(await sessions.emptyTrash(options)),
    pinSession: async (name, pinned) => (await getSession(name)).pinSession({ pinned }),
    rename: async (name, title) => (await getSession(name)).rename(title),
  }
}

/** Many programs are not type-checked, and a number that is none must not mean every session. */
function momentOf(age: Parameters<SessionAdmin['prune']>[0], nowMs: number): Date | string {
  if (typeof age === 'number' && age >= 0 && age <= daysMax) return new Date(nowMs - age * dayMs)
  if (typeof age === 'object' && age !== null) return age.before
  const message = `Give the days in which nobody spoke, a number from 0 to ${daysMax}, or { before }, a moment.`
  throw new HoldfastError(fault('bad_request', message, { age: String(age) }))
}

/** A date that is none is left for the door to refuse, by its name. */
const instantOf = (moment: Date | string): string =>
  moment instanceof Date && !Number.isNaN(moment.getTime()) ? moment.toISOString() : String(moment)
