import { createHash } from 'node:crypto'
import { type BlobHash, type Fault, fault, HoldfastError } from '@holdfast/protocol'

/**
 * The bytes of a blob as they come, one piece behind: the last is given only once all of them are what their name says,
 * and otherwise a fault is thrown in its place. So nobody who reads to the end has read bytes that went bad.
 */
export async function* checkedBlob(hash: BlobHash, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const digest = createHash('sha256')
  let held: Uint8Array | null = null
  for await (const chunk of bytes) {
    if (held !== null) yield held
    digest.update(chunk)
    held = chunk
  }
  if (digest.digest('hex') !== hash) throw new HoldfastError(blobDamaged(hash))
  if (held !== null) yield held
}

const blobDamaged = (hash: BlobHash): Fault =>
  fault('storage_error', `The bytes stored under ${hash} are not the ones that were stored: they are damaged.`, {
    reason: 'damaged',
    blob: hash,
  })
