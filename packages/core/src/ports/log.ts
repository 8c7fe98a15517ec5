import type { BlobHash, CommandId, LostRecord, Recorded, Result, Seq, SessionId, Trust } from '@holdfast/protocol'
import type { CatalogueEntry } from './catalogue.ts'

/** A record ready to be stored: its event already encoded, once, for the disk and for every subscriber. */
export type EncodedRecord = {
  readonly record: Recorded
  /** `JSON.stringify(record.event)`. */
  readonly body: string
}

export type Append = {
  readonly session: SessionId
  /** The head this batch was decided on; the first new seq is `after + 1`. */
  readonly after: Seq
  readonly epoch: number
  readonly records: readonly EncodedRecord[]
  /** The catalogue's row as it stands after this batch: it changes in the same transaction, or not at all. */
  readonly entry: CatalogueEntry
  /** Deletes the session's draft in the same transaction: the answer it held is in these records. */
  readonly clearDraft: boolean
  /** Blobs these records refer to, so that they are kept. */
  readonly blobs: readonly BlobHash[]
  /** What these records change in the trust of the session's workspace. */
  readonly trust: readonly TrustChange[]
}

export type NewSession = {
  readonly session: SessionId
  /** For a fork: the session it came from, and the last seq it shares with it. Otherwise null and 0. */
  readonly parent: SessionId | null
  readonly base: Seq
  readonly owner: string
  readonly records: readonly EncodedRecord[]
  readonly entry: CatalogueEntry
  /** Blobs these records refer to, so that they are kept. */
  readonly blobs: readonly BlobHash[]
}

export type ReadRange = {
  /** Exclusive. Seqs up to a fork's base are read from its lineage. */
  readonly after: Seq
  /** Inclusive; the head when absent. */
  readonly upTo?: Seq | undefined
  readonly limit: number
  /** Newest first, from `upTo` down. */
  readonly newestFirst?: boolean | undefined
  /** Only these event types. A damaged record is always among the answers. */
  readonly types?: readonly string[] | undefined
}

export type ReadRecord = Recorded | LostRecord

/** The append-only records of one session after another. Every store passes `describeStore` of the testkit. */
export interface Log {
  /** Creates the session with its first records, seqs from `base + 1`, at epoch 1. Refused: key_taken, handle_taken. */
  create(session: NewSession): Promise<Result<void>>
  /**
   * Appends all of the batch or none, provided the session is still at `after` and `epoch`.
   * Resolves only once the records would survive a power cut. Refused: log_moved, fenced, command_seen {seq},
   * session_not_found, storage_error.
   */
  append(append: Append): Promise<Result<void>>
  /** A bounded page, in seq order or newest first. A damaged record is read as `lost`, so seq stays dense. */
  read(session: SessionId, range: ReadRange): Promise<readonly ReadRecord[]>
  /** The records that speak of these calls, in seq order, lineage included up to each base. */
  readRefs(session: SessionId, calls: readonly Seq[]): Promise<readonly ReadRecord[]>
  /** The first record of the batch that this command wrote, if it was ever admitted. */
  findCommand(session: SessionId, commandId: CommandId): Promise<Recorded | null>
}

/** A change to what a workspace trusts, made in the same transaction as the records that say so. */
export type TrustChange =
  | { readonly type: 'granted'; readonly trust: Trust }
  /** Of one tool, or of all. */
  | { readonly type: 'revoked'; readonly tool: string | null }

/** What the people of a workspace have approved for good, over all its sessions. */
export interface Trusts {
  workspaceTrust(workspace: string): Promise<readonly Trust[]>
}
