import { limits } from '@holdfast/protocol'
import type { AreUsed, BlobSweep } from '../../ports/blobs.ts'
import type { NodeDeps } from '../node-deps.ts'

/** Removes the bytes that no record of any session refers to any more, on disk and in memory, until `signal` ends it. */
export async function sweepBlobs(
  { blobs, memoryBlobs, store, clock }: NodeDeps,
  signal?: AbortSignal | undefined,
): Promise<BlobSweep> {
  const options = { now: clock.now(), graceMs: limits.blobGraceMs, signal }
  // Asked for when the first bytes are old enough: where there are none, no store need be read through.
  let asked: Promise<AreUsed> | null = null
  const areUsed: AreUsed = async (hashes) => {
    asked ??= store.blobsInUse(signal)
    return (await asked)(hashes)
  }
  const swept = await Promise.all([...new Set([blobs, memoryBlobs])].map((one) => one.sweep(areUsed, options)))
  return swept.reduce((sum, one) => ({
    removed: sum.removed + one.removed,
    bytes: sum.bytes + one.bytes,
    setAside: sum.setAside + one.setAside,
  }))
}
