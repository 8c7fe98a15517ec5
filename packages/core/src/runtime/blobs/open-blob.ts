import { type BlobHash, fault, HoldfastError, ok, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { RuntimeDeps } from '../dependencies.ts'
import { checkedBlob } from './checked-blob.ts'

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
