import { createHash } from 'node:crypto'
import type { Blobs } from '@holdfast/core/ports'
import { type BlobHash, limits, ok, refuse } from '@holdfast/protocol'
import { blobTooLarge } from './blob-too-large.ts'

/** Blobs for a process that keeps nothing: tests, and sessions that are not to be stored. */
export function createMemoryBlobs({ bytesMax = limits.blobBytesMax }: { readonly bytesMax?: number } = {}): Blobs {
  const kept = new Map<string, Uint8Array>()

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
      kept.set(hash, whole)
      return ok({ hash, bytes: size })
    },

    async open(hash) {
      const whole = kept.get(hash)
      return whole === undefined ? null : once(whole)
    },

    async has(hash) {
      return kept.has(hash)
    },
  }
}

async function* once(whole: Uint8Array): AsyncIterable<Uint8Array> {
  yield whole
}
