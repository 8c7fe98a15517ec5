import { createHash } from 'node:crypto'
import { type BlobHash, limits } from '@holdfast/protocol'
import { fatesOf } from '../../context/told-files.ts'
import type { Window } from '../../context/window.ts'
import type { Blobs } from '../../ports/blobs.ts'
import { checkedBlob } from './checked-blob.ts'

/**
 * The bytes of the window's file parts that a model is sent, each read once. A blob that is gone, or no longer what its
 * name says, is left out, and said so in the request.
 */
export async function readFiles(
  blobs: Pick<Blobs, 'open'>,
  window: Window,
  takes?: readonly string[],
): Promise<ReadonlyMap<BlobHash, Uint8Array>> {
  const files = new Map<BlobHash, Uint8Array>()
  for (const [{ blob }, fate] of fatesOf(window, takes)) {
    if (fate !== 'sent' || files.has(blob)) continue
    const bytes = await readFile(blobs, blob)
    if (typeof bytes !== 'string') files.set(blob, bytes)
  }
  return files
}

/** A file that may go to a model, held whole; its bytes are checked against their name. */
export async function readFile(
  blobs: Pick<Blobs, 'open'>,
  hash: BlobHash,
): Promise<Uint8Array | 'gone' | 'damaged' | 'too large'> {
  // One file that nobody can read must not make the whole session unusable.
  return readWhole(blobs, hash).catch(() => 'damaged')
}

async function readWhole(blobs: Pick<Blobs, 'open'>, hash: BlobHash): ReturnType<typeof readFile> {
  const stream = await blobs.open(hash)
  if (!stream) return 'gone'
  const digest = createHash('sha256')
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > limits.fileBytesMax) return 'too large'
    digest.update(chunk)
    chunks.push(chunk)
  }
  return digest.digest('hex') === hash ? joined(chunks, length) : 'damaged'
}

/** In memory of its own, as `Buffer.concat` is not for short files: so it can be handed to another thread. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let end = 0
  for (const chunk of chunks) {
    whole.set(chunk, end)
    end += chunk.length
  }
  return whole
}

/** A blob held whole, or null when it is gone. Throws a fault when it is damaged. */
export async function readBlob(blobs: Pick<Blobs, 'open'>, hash: BlobHash): Promise<Uint8Array | null> {
  const stream = await blobs.open(hash)
  if (!stream) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of checkedBlob(hash, stream)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
