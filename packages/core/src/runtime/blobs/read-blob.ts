import { createHash } from 'node:crypto'
import {
  type BlobHash,
  type Fault,
  fault,
  HoldfastError,
  limits,
  ok,
  type Result,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import { fatesOf } from '../../context/told-files.ts'
import type { Window } from '../../context/window.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { RuntimeDeps } from '../dependencies.ts'

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

type Parts = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs'>

/**
 * Bytes that a record of the session names: whoever may read one session must not read what others hold. What is damaged
 * is refused, or, where it only shows at the end of a long one, breaks off with a fault.
 */
export async function openBlob(
  { store, blobs, memoryBlobs }: Parts,
  id: SessionId,
  hash: BlobHash,
): Promise<Result<AsyncIterable<Uint8Array>>> {
  const isNamed = await store.refersTo(id, hash)
  const bytes = isNamed ? ((await blobs.open(hash)) ?? (await memoryBlobs.open(hash))) : null
  if (bytes) return begun(checkedBlob(hash, bytes))
  return refuse(fault('blob_not_found', `This session holds nothing under ${hash}.`, { session: id, blob: hash }))
}

/** Reads the first piece, which of a short blob is all of it. */
async function begun(bytes: AsyncGenerator<Uint8Array, void>): Promise<Result<AsyncIterable<Uint8Array>>> {
  try {
    return ok(from(await bytes.next(), bytes))
  } catch (cause) {
    if (cause instanceof HoldfastError) return refuse(cause.toFault())
    throw cause
  }
}

async function* from(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done) return
  try {
    yield first.value
    yield* rest
  } finally {
    await rest.return() // a reader that leaves at the first piece
  }
}
