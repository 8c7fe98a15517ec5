import { createHash } from 'node:crypto'
import type { Blobs } from '@holdfast/core/ports'
import { type BlobHash, limits, ok, refuse } from '@holdfast/protocol'
import { blobTooLarge } from './blob-too-large.ts'

type Held = { readonly whole: Uint8Array; readonly at: number }

/** Blobs for a process that keeps nothing: tests, and sessions that are not to be stored. */
export function createMemoryBlobs({ bytesMax = limits.blobBytesMax }: { readonly bytesMax?: number } = {}): Blobs {
  const kept = new Map<BlobHash, Held>()
  const aside = new Map<BlobHash, Held>()

  function move(from: Map<BlobHash, Held>, to: Map<BlobHash, Held>, hash: BlobHash, at: number): void {
    const held = from.get(hash)
    if (held === undefined) return
    from.delete(hash)
    to.set(hash, { ...held, at })
  }

  /** What is asked for may be about to be referred to: it is put back where it was set aside. */
  function find(hash: BlobHash): Uint8Array | null {
    move(aside, kept, hash, Date.now())
    return kept.get(hash)?.whole ?? null
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
      const whole = Buffer.concat(chunks)
      const hash = createHash('sha256').update(whole).digest('hex') as BlobHash // a SHA-256 in hex is what the brand means
      aside.delete(hash)
      kept.set(hash, { whole, at: Date.now() })
      return ok({ hash, bytes: size })
    },

    async open(hash) {
      const whole = find(hash)
      return whole === null ? null : once(whole)
    },

    async has(hash) {
      return find(hash) !== null
    },

    async sweep(isUsed, { now, graceMs, dryRun = false }) {
      const oldIn = (held: Map<BlobHash, Held>) => [...held].filter(([, { at }]) => at <= now - graceMs)
      const [wereAside, wereKept] = [oldIn(aside), oldIn(kept)]
      const used = await isUsed([...wereAside, ...wereKept].map(([hash]) => hash))
      // Whoever asked meanwhile has it back in another place, and newer.
      const isAsItWas = (held: Map<BlobHash, Held>, [hash, before]: [BlobHash, Held]) => held.get(hash) === before
      const gone = wereAside.filter((one) => isAsItWas(aside, one) && !used.has(one[0]))
      const unused = wereKept.filter((one) => isAsItWas(kept, one) && !used.has(one[0]))
      if (!dryRun) {
        for (const [hash] of wereAside) if (used.has(hash)) move(aside, kept, hash, now)
        for (const [hash] of gone) aside.delete(hash)
        for (const [hash] of unused) move(kept, aside, hash, now)
      }
      const bytes = gone.reduce((sum, [, { whole }]) => sum + whole.byteLength, 0)
      return { removed: gone.length, bytes, setAside: unused.length }
    },
  }
}

async function* once(whole: Uint8Array): AsyncIterable<Uint8Array> {
  yield whole
}
