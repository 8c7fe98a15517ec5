import type { Result, Seq, SessionId } from '@holdfast/protocol'
import type { BlobUses } from './blobs.ts'
import type { Catalogue } from './catalogue.ts'
import type { Drafts } from './draft.ts'
import type { Leases } from './lease.ts'
import type { Log, Trusts } from './log.ts'
import type { PermissionRows } from './permission-rows.ts'
import type { Search } from './search.ts'
import type { SpendingRows } from './spending.ts'
import type { Tenants } from './tenants.ts'
import type { TokenRows } from './tokens.ts'

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
  /** What a store that keeps tenants apart knows of them; absent in one that does not. */
  readonly tenants?: Tenants | undefined
  /** The permission rules of all nodes; absent in a store of one machine, where they are a file. */
  readonly permissionRules?: PermissionRows | undefined
  /** Tests whether the disk accepts writes: writes 64 KiB durably and removes them. Refused: storage_error. */
  probe(): Promise<Result<void>>
  /** Waits for running work, then closes the store. */
  close(): Promise<void>
}
