import { type BlobHash, HoldfastError } from '@holdfast/protocol'
import type { Blobs } from '../../ports/blobs.ts'
import { readBlob } from '../blobs/read-blob.ts'
import type { SessionStorage } from '../storage-health.ts'

/** The system text and tool schemas of one session: stored as blobs, the newest also cached. */
export interface ContextBlobs {
  /** Stores a text; the same text is stored once in the life of a session. */
  keep(which: 'system' | 'tools', text: string): Promise<BlobHash>
  /** Reads the text of a blob. Its name is its hash, so the cached text equals the stored one. */
  read(hash: BlobHash): Promise<string>
}

export function createContextBlobs(blobs: Blobs, insist: SessionStorage['insist'] = (write) => write()): ContextBlobs {
  const newest = new Map<'system' | 'tools', { readonly text: string; readonly hash: BlobHash }>()
  return {
    async keep(which, text) {
      const known = newest.get(which)
      // The blob may not be recorded yet, and then a sweep removes it after a day.
      if (known?.text === text && (await blobs.has(known.hash))) return known.hash
      const put = await insist(() => blobs.put([Buffer.from(text)])) // a full disk must not fail the turn
      if (!put.ok) throw new HoldfastError(put.fault)
      newest.set(which, { text, hash: put.value.hash })
      return put.value.hash
    },

    async read(hash) {
      for (const known of newest.values()) if (known.hash === hash) return known.text
      const bytes = await readBlob(blobs, hash)
      if (!bytes) throw new Error(`blob ${hash} is gone`)
      return Buffer.from(bytes).toString('utf8')
    },
  }
}
