import type { BlobHash, CommandId, LostRecord, Recorded, Result, Seq, SessionId, Trust } from '@holdfast/protocol'
import type { CatalogueEntry } from './catalogue.ts'
import type { Charge } from './spending.ts'

/** A record with its event encoded, once for the disk and for every subscriber. */
export type EncodedRecord = {
  /** The record as an object. */
  readonly record: Recorded
  /** `JSON.stringify(record.event)`. */
  readonly body: string
}

/** A batch of records to append, and what changes with it. */
export type Append = {
  /** The session to append to. */
  readonly session: SessionId
  /** The head that this batch was decided on; the first new seq is `after + 1`. */
  readonly after: Seq
  /** The epoch of the owner's lease. */
  readonly epoch: number
  /** The records, numbered from `after + 1`. */
  readonly records: readonly EncodedRecord[]
  /** The catalogue row after this batch, changed in the same transaction. */
  readonly entry: CatalogueEntry
  /** Whether to delete the session's draft in the same transaction: its answer is in these records. */
  readonly clearDraft: boolean
  /** Blobs these records refer to, so that they are kept. */
  readonly blobs: readonly BlobHash[]
  /** What these records change in the trust of the session's workspace. */
  readonly trust: readonly TrustChange[]
  /** What the model calls of these records have cost, added to what was spent in the same transaction. */
  readonly charge?: Charge | undefined
  /** The hash of the command that made the batch, stored with its first record. */
  readonly commandHash?: string | undefined
}

/** A session to create, with its first records. */
export type NewSession = {
  /** The id of the new session. */
  readonly session: SessionId
  /** For a fork, the session it came from and the last seq it shares with it; otherwise null and 0. */
  readonly parent: SessionId | null
  /** The last seq that a fork shares with its parent; 0 for any other session. */
  readonly base: Seq
  /** The node that may append next; null if it is complete and free. */
  readonly owner: string | null
  /** The first records, numbered from `base + 1`. */
  readonly records: readonly EncodedRecord[]
  /** The first catalogue row. */
  readonly entry: CatalogueEntry
  /** Blobs these records refer to, so that they are kept. */
  readonly blobs: readonly BlobHash[]
  /** The tenant it is for. Without it, that of its parent, or of the session it is started for. */
  readonly tenant?: string | undefined
  /** The label of its folder, for a copy from another store: without it, the owner's. Only stores of several nodes have labels. */
  readonly label?: string | undefined
}

/** Which records to read. */
export type ReadRange = {
  /** Exclusive. Seqs up to a fork's base are read from its lineage. */
  readonly after: Seq
  /** Inclusive; the head when absent. */
  readonly upTo?: Seq | undefined
  /** The largest number of records to return. */
  readonly limit: number
  /** Ends the page at the record that reaches this size, in characters of JSON. Such a page may have fewer than `limit`. */
  readonly charsMax?: number | undefined
  /** Newest first, from `upTo` down. */
  readonly newestFirst?: boolean | undefined
  /** Only these event types. A damaged record is always included. */
  readonly types?: readonly string[] | undefined
}

/** A record, or the seq of one that is damaged. */
export type ReadRecord = Recorded | LostRecord

/** The append-only records of each session. Every store passes `describeStore` of the testkit. */
export interface Log {
  /** Creates the session with its first records, seqs from `base + 1`, at epoch 1. Refused: key_taken, handle_taken. */
  create(session: NewSession): Promise<Result<void>>
  /**
   * Appends all of the batch or none, if the session is still at `after` and `epoch`. Resolves once the records would
   * survive a power cut. Refused: log_moved, fenced, command_seen {seq}, session_not_found, storage_error.
   */
  append(append: Append): Promise<Result<void>>
  /** Reads a bounded page. A damaged record is read as `lost`, so that seqs stay dense. */
  read(session: SessionId, range: ReadRange): Promise<readonly ReadRecord[]>
  /** Returns the records about these calls, in seq order, including the lineage up to each base. */
  readRefs(session: SessionId, calls: readonly Seq[]): Promise<readonly ReadRecord[]>
  /** Returns the first record that this command wrote; null if it wrote none. */
  findCommand(session: SessionId, commandId: CommandId): Promise<Recorded | null>
  /** Returns the hash that was stored with that record; null for one that was written, copied or imported without it. */
  commandHash(session: SessionId, commandId: CommandId): Promise<string | null>
}

/** A change to the trust of a workspace, made in the same transaction as its records. */
export type TrustChange =
  | { readonly type: 'granted'; readonly trust: Trust }
  /** For one tool, or null for all. */
  | { readonly type: 'revoked'; readonly tool: string | null }

/** The standing approvals of each workspace, for all its sessions. */
export interface Trusts {
  /** Returns the standing approvals of a workspace; none for an unknown one. */
  workspaceTrust(workspace: string): Promise<readonly Trust[]>
}
