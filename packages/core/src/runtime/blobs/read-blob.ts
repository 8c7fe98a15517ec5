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
import { fatesOf } from '../../context/model-files.ts'
import type { Window } from '../../context/window.ts'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { RuntimeDeps } from '../dependencies.ts'

/**
 * Reads the files of the window that are sent to the model, each once. A missing or damaged blob is left out; the
 * request says so.
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

/** Reads a whole file for a model and checks its bytes against their hash. */
export async function readFile(
  blobs: Pick<Blobs, 'open'>,
  hash: BlobHash,
): Promise<Uint8Array | 'gone' | 'damaged' | 'too large'> {
  // One unreadable file must not make the whole session unusable.
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

/** Joins chunks in a buffer of its own, which can be moved to another thread; `Buffer.concat` may use a shared pool. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let end = 0
  for (const chunk of chunks) {
    whole.set(chunk, end)
    end += chunk.length
  }
  return whole
}

/** Reads a whole blob; null when it is missing. Throws a fault when it is damaged. */
export async function readBlob(blobs: Pick<Blobs, 'open'>, hash: BlobHash): Promise<Uint8Array | null> {
  const stream = await blobs.open(hash)
  if (!stream) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of checkedBlob(hash, stream)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/**
 * Streams a blob one chunk behind: the last chunk is yielded only after all bytes match the hash. Otherwise a fault is
 * thrown, so that no reader takes damaged bytes for complete ones.
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

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs'>

/**
 * Opens a blob that a record of the session refers to, or one of `own`, and no other: a session must not expose the blobs of
 * others. A damaged blob is refused, or breaks off with a fault if the damage shows only at the end.
 */
export async function openBlob(
  { store, blobs, memoryBlobs }: Deps,
  id: SessionId,
  hash: BlobHash,
  own?: ReadonlySet<BlobHash>,
): Promise<Result<AsyncIterable<Uint8Array>>> {
  const isNamed = own?.has(hash) || (await store.refersTo(id, hash))
  const bytes = isNamed ? ((await blobs.open(hash)) ?? (await memoryBlobs.open(hash))) : null
  if (bytes) return begun(checkedBlob(hash, bytes))
  return refuse(fault('blob_not_found', `This session holds nothing under ${hash}.`, { session: id, blob: hash }))
}

/** Reads the first chunk, which is all of a short blob. */
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
    await rest.return() // for a reader that stops after the first chunk
  }
}
