import { createHash } from 'node:crypto'
import type { Blobs } from '@holdfast/core/ports'
import { type BlobHash, limits, ok, refuse } from '@holdfast/protocol'
import { blobTooLarge } from '../store-faults.ts'

type StoredBlob = { readonly content: Uint8Array; readonly at: number }

/** Stores blobs in memory: for tests and for sessions that are not stored. */
export function createMemoryBlobs({
  bytesMax = limits.toolOutputBytesMax,
}: {
  readonly bytesMax?: number
} = {}): Blobs {
  const current = new Map<BlobHash, StoredBlob>()
  const aside = new Map<BlobHash, StoredBlob>()

  function move(from: Map<BlobHash, StoredBlob>, to: Map<BlobHash, StoredBlob>, hash: BlobHash, at: number): void {
    const blob = from.get(hash)
    if (blob === undefined) return
    from.delete(hash)
    to.set(hash, { ...blob, at })
  }

  /** Restores a blob that was set aside, because a record may refer to it soon. */
  function find(hash: BlobHash): Uint8Array | null {
    move(aside, current, hash, Date.now())
    return current.get(hash)?.content ?? null
  }

  return {
    async put(bytes) {
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const chunk of bytes) {
        size += chunk.byteLength
        if (size > bytesMax) return refuse(blobTooLarge(bytesMax))
        chunks.push(chunk)
      }
      const content = Buffer.concat(chunks)
      const hash = createHash('sha256').update(content).digest('hex') as BlobHash // a SHA-256 in hex
      aside.delete(hash)
      current.set(hash, { content, at: Date.now() })
      return ok({ hash, bytes: size })
    },

    async open(hash) {
      const content = find(hash)
      return content === null ? null : once(content)
    },

    async has(hash) {
      return find(hash) !== null
    },

    async sweep(isUsed, { now, graceMs, dryRun = false }) {
      const oldIn = (blobs: Map<BlobHash, StoredBlob>) => [...blobs].filter(([, { at }]) => at <= now - graceMs)
      const [oldAside, oldBlobs] = [oldIn(aside), oldIn(current)]
      const used = await isUsed([...oldAside, ...oldBlobs].map(([hash]) => hash))
      // A blob that was read meanwhile has been restored with a new time.
      const isUnchanged = (blobs: Map<BlobHash, StoredBlob>, [hash, before]: [BlobHash, StoredBlob]) =>
        blobs.get(hash) === before
      const gone = oldAside.filter((one) => isUnchanged(aside, one) && !used.has(one[0]))
      const unused = oldBlobs.filter((one) => isUnchanged(current, one) && !used.has(one[0]))
      if (!dryRun) {
        for (const [hash] of oldAside) if (used.has(hash)) move(aside, current, hash, now)
        for (const [hash] of gone) aside.delete(hash)
        for (const [hash] of unused) move(current, aside, hash, now)
      }
      const bytes = gone.reduce((sum, [, { content }]) => sum + content.byteLength, 0)
      return { removed: gone.length, bytes, setAside: unused.length }
    },
  }
}

async function* once(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content
}
