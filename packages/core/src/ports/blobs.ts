import type { BlobHash, Result, SessionId } from '@holdfast/protocol'

/** Bytes named by their hash, stored once. Durable before `put` resolves, so a record may refer to them. */
export interface Blobs {
  /** Streams the bytes in; they are never held whole. Refused: too_large, storage_error. */
  put(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<Result<{ readonly hash: BlobHash; readonly bytes: number }>>
  /** Streams the bytes out, or null when there is no such blob. */
  open(hash: BlobHash): Promise<AsyncIterable<Uint8Array> | null>
  has(hash: BlobHash): Promise<boolean>
  /**
   * Removes what nothing refers to. `areUsed` is asked for a bounded list of hashes at a time, and says which are referred
   * to. Bytes put or found wanted after a sweep began are never taken by it: what is to go is set aside first, where
   * `put`, `has` and `open` still find it, and removed by a later sweep that finds it unused again.
   */
  sweep(areUsed: AreUsed, options: SweepOptions): Promise<BlobSweep>
}

/** Those of some hashes that are referred to. */
export type AreUsed = (hashes: readonly BlobHash[]) => Promise<ReadonlySet<BlobHash>>

export type SweepOptions = {
  /** In milliseconds: younger bytes may be about to be referred to. */
  readonly now: number
  readonly graceMs: number
  /** Says what would go, and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** Ends it between two lists; what was done stays done. */
  readonly signal?: AbortSignal | undefined
}

/** `bytes` is what the removed ones held. */
export type BlobSweep = { readonly removed: number; readonly bytes: number; readonly setAside: number }

/** Which blobs the records of a store refer to. */
export interface BlobUses {
  /**
   * Tells for the length of one sweep which blobs some record refers to, of sessions in the trash too. What has to be read
   * through for that is read once, and let go with the answer. Once `signal` says so everything counts as used.
   */
  blobsInUse(signal?: AbortSignal): Promise<AreUsed>
  /** Whether a record of this session refers to the blob; of a fork, also one that it shares with its lineage. */
  refersTo(session: SessionId, hash: BlobHash): Promise<boolean>
}
