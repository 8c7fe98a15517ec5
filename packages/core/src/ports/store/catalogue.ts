import type { Key, Meta, ModelName, Seq, SessionId, SessionName } from '@holdfast/protocol'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** A session's row: what lists show and sort by. It can be rebuilt from the log. */
export type CatalogueEntry = {
  /** The row that people see. */
  readonly meta: Meta
  /** Whether it has more than a plain start: a key, a title, a parent or a second record. Otherwise it is unlisted and may be removed. */
  readonly spoken: boolean
  /** Whether a process must work on it. A busy row with a dead owner is a crashed session. */
  readonly busy: boolean
  /** When someone last spoke, in milliseconds; lists are sorted by it. */
  readonly activeAt: number
}

/** Which sessions to list; all conditions must hold. */
export type ListRequest = {
  /** Only sessions of this folder. */
  readonly workspace?: string | undefined
  /** Only sessions with these words in title, preview or recent text. */
  readonly search?: string | undefined
  /** Only sessions that use this model. */
  readonly model?: ModelName | undefined
  /** Someone spoke at this time or later, in milliseconds. */
  readonly activeFrom?: number | undefined
  /** Only sessions whose latest message is before this time. */
  readonly activeBefore?: number | undefined
  /** Only pinned sessions, or only the others. */
  readonly pinned?: boolean | undefined
  /** Only sessions started for this one, without its forks. Uses an index. */
  readonly startedFor?: SessionId | undefined
  /** Also lists subagents. Otherwise they are listed only by `startedFor`, and in the trash. */
  readonly subagents?: boolean | undefined
  /** Only busy sessions owned by one of these nodes. */
  readonly runningAt?: readonly string[] | undefined
  /** Only sessions with a call that waits for an approval. Uses an index. */
  readonly waiting?: true | undefined
  /** Only sessions of this tenant. A store without tenants has none. */
  readonly tenant?: string | undefined
  /** Sessions in the trash, last trashed first, instead of the others. */
  readonly trashed?: boolean | undefined
  /** Only sessions trashed before this time. */
  readonly trashedBefore?: number | undefined
  /** The largest number of rows to return. */
  readonly limit: number
  /** The `next` of the page before; the first page when absent. */
  readonly cursor?: string | undefined
}

/** A row of a list with its owner. */
export type Listed = {
  /** The row that people see. */
  readonly meta: Meta
  /** Whether a process must work on it. */
  readonly busy: boolean
  /** The node that may append, or null. */
  readonly owner: string | null
  /** When it was moved to the trash, in milliseconds, or null. */
  readonly trashedAt: number | null
  /** The position in the list, so that the lists of two stores can be merged. */
  readonly position: ListCursor
}

/** A page of a list. `next` is the cursor of the next page, null at the end. */
export type ListPage = { readonly sessions: readonly Listed[]; readonly next: string | null }

/** How to find a session: by a name that people use, by a program's key, or as the latest. */
export type SessionLookup =
  | SessionName
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'latest'; readonly workspace: string }

/** Everything a store knows of a session without reading its log. */
export type CatalogueRow = {
  /** The row of lists. */
  readonly entry: CatalogueEntry
  /** The seq of the last record. */
  readonly head: Seq
  /** For a fork, the last seq it shares with its parent; otherwise 0. */
  readonly base: Seq
  /** The node that may append, or null. */
  readonly owner: string | null
  /** When it was moved to the trash, in milliseconds, or null. */
  readonly trashedAt: number | null
  /** The tenant it belongs to; absent for one of the server itself. */
  readonly tenant?: string | undefined
}

/** Finds sessions without reading their logs. */
export interface Catalogue {
  /** Lists spoken sessions, pinned ones first, then by newest activity. */
  list(request: ListRequest): Promise<ListPage>
  /**
   * Returns the sessions that a name matches: none, one, or the first few for a prefix. Includes the trash, except for
   * `latest`. With a tenant, only its sessions. A key is unique within a tenant: without one, it is a key of the server.
   */
  find(name: SessionLookup, tenant?: string): Promise<readonly SessionId[]>
  /** Returns the busy rows with their owners; a starting node checks these for dead owners. */
  busy(): Promise<readonly { readonly session: SessionId; readonly owner: string | null }[]>
  /** Returns one session's row, spoken or not; null when there is no such session. */
  entry(session: SessionId): Promise<CatalogueRow | null>
  /** Removes unspoken sessions whose owner is null or in `owners`; returns how many. */
  removeUnspoken(owners: readonly string[]): Promise<number>
  /**
   * Moves a session to the trash: unlisted, not searched, not claimable, otherwise complete. Durable once resolved, and
   * idempotent: the first time stays. Refused: session_not_found, session_locked while it has an owner.
   */
  trash(session: SessionId, at: number): Promise<Result<void>>
  /** Restores a session from the trash; does nothing if it is not there. Refused: session_not_found. */
  restore(session: SessionId): Promise<Result<void>>
  /**
   * Deletes a session. Records that its forks share stay until the last fork is gone. With `trashedAt`, only if it was
   * trashed at that very time: it may have been restored since it was listed. Refused: session_not_found,
   * session_not_trashed, session_locked while it has an owner.
   */
  purge(session: SessionId, options?: PurgeOptions): Promise<Result<void>>
}

/** When the session must have been moved to the trash. */
export type PurgeOptions = { readonly trashedAt: number }

/** A position in a list: pinned sessions first, then the latest activity, then the newest. The trash ignores pins. */
export type ListCursor = {
  /** 1 for a pinned session; always 0 in the trash. */
  readonly pinned: 0 | 1
  /** The last activity; in the trash, when it was put there. */
  readonly at: number
  /** The order of creation, if all else is equal. */
  readonly order: number
}

const firstPosition: ListCursor = { pinned: 1, at: Number.MAX_SAFE_INTEGER, order: Number.MAX_SAFE_INTEGER }

/** Negative if `left` is listed before `right`. */
export const compareListPlaces = (left: ListCursor, right: ListCursor): number =>
  right.pinned - left.pinned || right.at - left.at || right.order - left.order

/** Returns a position as the text that a client sends back. */
export const encodeListCursor = ({ pinned, at, order }: ListCursor): string => `${pinned}.${at}.${order}`

/** Reads the text of a cursor; without one, returns the position before the first row. Refused: bad_request. */
export function decodeListCursor(cursor: string | undefined): Result<ListCursor> {
  if (cursor === undefined) return ok(firstPosition)
  const [, pinned, at, order] = /^([01])\.(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? []
  if (pinned === undefined || at === undefined || order === undefined) return refuse(badCursor(cursor))
  return ok({ pinned: pinned === '1' ? 1 : 0, at: Number(at), order: Number(order) })
}

/** The fault of an invalid cursor of a list or a search. */
export const badCursor = (cursor: string): Fault =>
  fault('bad_request', 'The cursor is invalid. Use the cursor that the last page returned.', { cursor })
