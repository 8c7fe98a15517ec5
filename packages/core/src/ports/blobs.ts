import type { BlobHash, Result } from '@holdfast/protocol'

/** Bytes named by their hash, stored once. Durable before `put` resolves, so a record may refer to them. */
export interface Blobs {
  /** Streams the bytes in; they are never held whole. Refused: too_large, storage_error. */
  put(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<Result<{ readonly hash: BlobHash; readonly bytes: number }>>
  /** Streams the bytes out, or null when there is no such blob. */
  open(hash: BlobHash): Promise<AsyncIterable<Uint8Array> | null>
  has(hash: BlobHash): Promise<boolean>
}
