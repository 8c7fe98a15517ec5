import { HoldfastError, limits } from '@holdfast/protocol'
import type { AreUsed, BlobSweep } from '../../ports/store/blobs.ts'
import type { NodeDeps } from '../dependencies.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'

/** Deletes the blobs that no record refers to, on disk and in memory, until `signal` aborts. */
export async function sweepBlobs(
  { blobs, memoryBlobs, store, memoryStore, clock }: NodeDeps,
  signal?: AbortSignal | undefined,
): Promise<BlobSweep> {
  const options = { now: clock.now(), graceMs: limits.blobGraceMs, signal }
  // Asked for at the first old blob: without one, no store has to be read.
  let asked: Promise<readonly AreUsed[]> | null = null
  const areUsed: AreUsed = async (hashes) => {
    asked ??= Promise.all([...new Set([store, memoryStore])].map((one) => one.blobsInUse(signal)))
    const used = await Promise.all((await asked).map((one) => one(hashes)))
    return used.reduce((all, some) => all.union(some))
  }
  const swept = await Promise.all([...new Set([blobs, memoryBlobs])].map((one) => one.sweep(areUsed, options)))
  return swept.reduce((sum, one) => ({
    removed: sum.removed + one.removed,
    bytes: sum.bytes + one.bytes,
    setAside: sum.setAside + one.setAside,
  }))
}

/** Revokes the tokens of sessions that were permanently deleted. A session in the trash keeps its tokens. */
export async function sweepTokens({ deps: { store }, stores }: SessionRegistry): Promise<void> {
  for (const { id, session } of await store.tokens()) {
    // Asks the store itself: `stores` may show only the sessions of one tenant.
    if (session === null || (await stores.storeOf(session).entry(session)) !== null) continue
    const removed = await store.removeToken(id)
    if (!removed.ok) throw new HoldfastError(removed.fault)
  }
}
