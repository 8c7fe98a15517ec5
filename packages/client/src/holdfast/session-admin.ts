import {
  ageMsMax,
  type ClearOptions,
  type CommandResult,
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
import { requireOptions } from '../session/arguments.ts'
import type { Session } from '../session/session.ts'
import { byName } from './by-name.ts'

const daysMax = ageMsMax / dayMs

/** Which of the old sessions a cleanup removes. */
export type PruneFurther = Pick<PruneOptions, 'workspace' | 'dryRun'>

/** Titles, pins and removal of sessions. Removed sessions stay in the trash for 30 days. */
export interface SessionAdmin {
  /** Moves a session to the trash. `force` also stops and moves one that runs or has clients. */
  delete(name: string, options?: DeleteOptions): Promise<Removal>
  /** Deletes a session permanently, in the trash or not. `force` also stops and deletes one that runs or has clients. */
  purge(name: string, options?: DeleteOptions): Promise<Removal>
  /**
   * Moves all sessions to the trash except running, attached and pinned ones and those open elsewhere; lists those. With
   * `force`, only those open elsewhere stay.
   */
  clearAll(options?: ClearOptions): Promise<Removal>
  /** Moves the sessions to the trash that had no message for this many days, or since `before`. */
  prune(age: number | { readonly before: Date | string }, options?: PruneFurther): Promise<Removal>
  /** Moves the sessions to the trash that had no message since `date`. Returns what went and what stayed. */
  cleanupOlderThan(date: Date | string, options?: PruneFurther): Promise<Removal>
  /** Lists the trash, last moved first. */
  trash(options?: Pick<ListOptions, 'workspace' | 'search' | 'limit' | 'cursor'>): Promise<SessionList>
  /** Takes a session out of the trash. Returns its row. Refused: session_not_found. */
  restore(name: string): Promise<Meta>
  /** Deletes the sessions in the trash permanently; with `before`, only those moved there before. */
  emptyTrash(options?: EmptyTrashOptions): Promise<Removal>
  /** Pins or unpins a session; returns whether it is pinned. A pinned one is listed first, and prune and clearAll leave it. */
  pinSession(name: string, pinned?: boolean): Promise<CommandResult<'pinSession'>>
  /** Sets the title; an empty one resets it to the first line of the first prompt. */
  rename(name: string, title: string): Promise<CommandResult<'rename'>>
}

export function createSessionAdmin(
  sessions: Sessions,
  getSession: (name: string) => Promise<Session>,
  now: () => number,
): SessionAdmin {
  const pruneBefore = async (before: Date | string, options?: PruneFurther) =>
    orThrow(await sessions.prune({ ...requireOptions(options), before: toTimeText(before) }))
  return {
    delete: async (name, options) => orThrow(await byName(sessions, name, (asked) => sessions.delete(asked, options))),
    purge: async (name, options) => orThrow(await byName(sessions, name, (asked) => sessions.purge(asked, options))),
    clearAll: async (options) => orThrow(await sessions.clearAll(options)),
    prune: async (age, options) => pruneBefore(toTime(age, now()), options),
    cleanupOlderThan: pruneBefore,
    trash: async (options) => orThrow(await sessions.list({ ...requireOptions(options), trashed: true })),
    restore: async (name) => orThrow(await byName(sessions, name, (asked) => sessions.restore(asked))),
    emptyTrash: async (options) => orThrow(await sessions.emptyTrash(options)),
    pinSession: async (name, pinned) => (await getSession(name)).pinSession({ pinned }),
    rename: async (name, title) => (await getSession(name)).rename(title),
  }
}

/** Returns the time of an age. Checks its type, because NaN from an untyped program must not mean every session. */
function toTime(age: Parameters<SessionAdmin['prune']>[0], nowMs: number): Date | string {
  if (typeof age === 'number' && age >= 0 && age <= daysMax) return new Date(nowMs - age * dayMs)
  if (typeof age === 'object' && age !== null) return age.before
  const message = `prune needs a number of days from 0 to ${daysMax}, or { before: Date }.`
  throw new HoldfastError(fault('bad_request', message, { age: String(age) }))
}

/** Passes an invalid date on as text, which the callee rejects by name. */
const toTimeText = (time: Date | string): string =>
  time instanceof Date && !Number.isNaN(time.getTime()) ? time.toISOString() : String(time)
