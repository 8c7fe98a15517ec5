import type { Key, Meta, ModelName, Result, Seq, SessionId, SessionName as SpokenName } from '@holdfast/protocol'

/** A session's row: what a list shows and sorts by. Can be rebuilt from the log. */
export type CatalogueEntry = {
  readonly meta: Meta
  /** Whether anyone has spoken; until then the session is unlisted and may be removed. */
  readonly spoken: boolean
  /** Whether someone has to be working on it. A busy row with a dead owner is a session that crashed at work. */
  readonly busy: boolean
  /** When someone last spoke, in milliseconds; lists are in this order. */
  readonly activeAt: number
}

export type ListRequest = {
  readonly workspace?: string | undefined
  readonly search?: string | undefined
  readonly model?: ModelName | undefined
  /** Someone spoke at this moment or later; in milliseconds, as `activeAt`. */
  readonly activeFrom?: number | undefined
  /** Nobody has spoken at this moment or later. */
  readonly activeBefore?: number | undefined
  readonly pinned?: boolean | undefined
  /** Only sessions that were started for this one; its forks were not. Found without looking at any other. */
  readonly startedFor?: SessionId | undefined
  /** Only sessions at work whose owner is among these. */
  readonly runningAt?: readonly string[] | undefined
  /** What is in the trash, last put there first, instead of what is not. */
  readonly trashed?: boolean | undefined
  /** Of what is in the trash: put there before this moment. Nothing else fits. */
  readonly trashedBefore?: number | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export type Listed = {
  readonly meta: Meta
  readonly busy: boolean
  /** The node that may append, or null. */
  readonly owner: string | null
  /** When it was put into the trash, in milliseconds, or null. */
  readonly trashedAt: number | null
}

export type ListPage = { readonly sessions: readonly Listed[]; readonly next: string | null }

/** What a session is found by: a name as people write it, a program's key, or being the latest. */
export type SessionName =
  | SpokenName
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'latest'; readonly workspace: string }

export type CatalogueRow = {
  readonly entry: CatalogueEntry
  readonly head: Seq
  /** Of a fork: the last seq it shares with its parent; otherwise 0. */
  readonly base: Seq
  readonly owner: string | null
  readonly trashedAt: number | null
}

/** Finding sessions without reading them. */
export interface Catalogue {
  /** Spoken sessions, pinned ones first, then newest activity first. Never reads transcripts. */
  list(request: ListRequest): Promise<ListPage>
  /** The sessions a name fits: none, one, or for a prefix the first few. Those in the trash too, unless it is `latest`. */
  find(name: SessionName): Promise<readonly SessionId[]>
  /** The rows that say busy, with their owners: what a starting node looks through for the dead. */
  busy(): Promise<readonly { readonly session: SessionId; readonly owner: string | null }[]>
  /** One session's row, spoken in or not, with where its log stands; null when there is no such session. */
  entry(session: SessionId): Promise<CatalogueRow | null>
  /** Removes sessions nobody has spoken in whose owner is in `owners` or null; returns how many. */
  removeUnspoken(owners: readonly string[]): Promise<number>
  /**
   * Puts a session into the trash: unlisted, found by no search, claimed by nobody, and otherwise whole. Durable once
   * resolved, and idempotent: the first moment stays. Refused: session_not_found, session_locked while someone owns it.
   */
  trash(session: SessionId, at: number): Promise<Result<void>>
  /** Takes it out of the trash again; nothing to do where it is not in it. Refused: session_not_found. */
  restore(session: SessionId): Promise<Result<void>>
  /**
   * Removes a session for good. What its forks share of it stays, found by nobody, until the last of them is gone.
   * With `trashedAt` only while it is in the trash since that very moment: who empties the trash may have listed what was
   * restored since. Refused: session_not_found, session_not_trashed, session_locked while someone owns it.
   */
  purge(session: SessionId, options?: PurgeOptions): Promise<Result<void>>
}

export type PurgeOptions = { readonly trashedAt: number }
