import type { Result, Seq, SessionId, StepId } from '@holdfast/protocol'
import type { BlobUses } from './blobs.ts'
import type { Catalogue } from './catalogue.ts'
import type { Leases } from './lease.ts'
import type { Log, SpendingRows, Trusts } from './log.ts'
import type { SaidPart } from './provider.ts'
import type { Search } from './search.ts'
import type { TokenRows } from './tokens.ts'

/** The text of a running answer, saved each second and dropped when the message is recorded. */
export type Draft = { readonly step: StepId; readonly parts: readonly SaidPart[] }

/** Stores the text of running answers, so that a crash loses at most about a second of it. */
export interface Drafts {
  /** Overwrites the session's draft. Refused when the epoch is old: fenced. */
  saveDraft(session: SessionId, epoch: number, draft: Draft): Promise<Result<void>>
  /** Returns the session's draft; null when there is none. */
  loadDraft(session: SessionId): Promise<Draft | null>
}

/** A stored fold, to load faster. `fold` is the version of the fold; a snapshot of another version is ignored. */
export type StoredSnapshot = { readonly seq: Seq; readonly fold: number; readonly body: string }

/** Stores folded states, so that a long session opens as fast as a short one. */
export interface Snapshots {
  /** Disposable: losing one costs time, never data. */
  saveSnapshot(session: SessionId, snapshot: StoredSnapshot): Promise<void>
  /** Returns the newest snapshot of this version of the fold; null when there is none. */
  loadSnapshot(session: SessionId, fold: number): Promise<StoredSnapshot | null>
}

/** Everything that a store must provide. A new store is done when it passes `describeStore`. */
export interface Store
  extends Log,
    Catalogue,
    Leases,
    Drafts,
    Snapshots,
    Trusts,
    TokenRows,
    SpendingRows,
    Search,
    BlobUses {
  /** Tests whether the disk accepts writes: writes 64 KiB durably and removes them. Refused: storage_error. */
  probe(): Promise<Result<void>>
  /** Waits for running work, then closes the store. */
  close(): Promise<void>
}
