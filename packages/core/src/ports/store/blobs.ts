import type { BlobHash, Result, SessionId } from '@holdfast/protocol'

/** Bytes named by their hash, stored once. Durable before `put` resolves, so a record may refer to them. */
export interface Blobs {
  /** Stores a stream without holding it in memory. Refused: too_large, storage_error. */
  put(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<Result<{ readonly hash: BlobHash; readonly bytes: number }>>
  /** Opens a stream of the bytes; null when there is no such blob. */
  open(hash: BlobHash): Promise<AsyncIterable<Uint8Array> | null>
  /** Whether the bytes of this hash are stored. */
  has(hash: BlobHash): Promise<boolean>
  /**
   * Deletes unreferenced blobs. `areUsed` gets bounded lists of hashes. An unused blob is first set aside, where `put`,
   * `has` and `open` still find it, and deleted by a later sweep that finds it unused again. Bytes put or looked up
   * during a sweep stay.
   */
  sweep(areUsed: AreUsed, options: SweepOptions): Promise<BlobSweep>
  /**
   * Checks that new bytes can be stored, within a few seconds. Often asked: an answer may be some seconds old. Absent if the
   * bytes are where the store is, which has a check of its own. Refused: storage_error.
   */
  probe?(): Promise<Result<void>>
}

/** Returns those of some hashes that a record refers to. */
export type AreUsed = (hashes: readonly BlobHash[]) => Promise<ReadonlySet<BlobHash>>

/** Which unused blobs a sweep may delete. */
export type SweepOptions = {
  /** In milliseconds: younger blobs may be referred to soon. */
  readonly now: number
  /** How long a new blob is safe, in milliseconds. */
  readonly graceMs: number
  /** Reports what would be deleted, and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** Stops between two lists; what was done stays done. */
  readonly signal?: AbortSignal | undefined
}

/** `bytes` is the total size of the removed blobs. */
export type BlobSweep = { readonly removed: number; readonly bytes: number; readonly setAside: number }

/** Knows which blobs the records of a store refer to. */
export interface BlobUses {
  /**
   * Returns a function that finds, for one sweep, the blobs that records refer to, also in the trash. What has to be read
   * for that is read once. After `signal` aborts, every blob counts as used.
   */
  blobsInUse(signal?: AbortSignal): Promise<AreUsed>
  /** Whether a record of this session, or of the lineage of a fork, refers to the blob. */
  refersTo(session: SessionId, hash: BlobHash): Promise<boolean>
}
