import { createHash } from 'node:crypto'
import type { ToolBlobs } from '@holdfast/core/ports'
import { type BeforeImage, BlobHash, HoldfastError, limits } from '@holdfast/protocol'

/** Returns the SHA-256 of bytes, which also names their blob. They may come in parts. */
export function hashBytes(...parts: readonly Uint8Array[]): BlobHash {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return BlobHash.parse(hash.digest('hex'))
}

/**
 * Stores the bytes of a file before they are changed. Resolves once they are on stable storage. A file that cannot be kept
 * is changed all the same, and the reason is recorded.
 */
export async function keepBefore(
  bytes: Uint8Array,
  mode: number,
  blobs: ToolBlobs | undefined,
  own = hashBytes(bytes),
): Promise<BeforeImage> {
  const notKept = (why: string): BeforeImage => ({ type: 'not_kept', why })
  if (blobs === undefined) return notKept('this call stores no files')
  if (bytes.length > limits.beforeImageBytesMax) return notKept(tooLong(bytes.length))
  try {
    const { hash } = await blobs.put(bytes)
    // Keys are masked in what is stored: other bytes would be put back.
    return hash === own ? { type: 'file', hash, mode: mode & 0o7777 } : notKept('it holds an API key')
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'too_large') return notKept(error.message)
    throw error
  }
}

export const tooLong = (bytes: number): string =>
  `it has ${bytes} bytes; up to ${limits.beforeImageBytesMax} are kept to undo a change`
