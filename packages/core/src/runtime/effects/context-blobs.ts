import { type BlobHash, HoldfastError } from '@holdfast/protocol'
import type { Blobs } from '../../ports/blobs.ts'
import { readBlob } from '../blobs/read-blob.ts'
import type { SessionStorage } from '../storage-health.ts'

/** What the model of one session is told apart from messages: in blobs, and the newest also at hand. */
export interface ContextBlobs {
  /** The same text is stored once in the life of a session, not once a step. */
  keep(which: 'system' | 'tools', text: string): Promise<BlobHash>
  /** The text of a blob. Its name is the hash of its bytes, so what is at hand is what the disk would say. */
  read(hash: BlobHash): Promise<string>
}

export function createContextBlobs(blobs: Blobs, insist: SessionStorage['insist'] = (write) => write()): ContextBlobs {
  const newest = new Map<'system' | 'tools', { readonly text: string; readonly hash: BlobHash }>()
  return {
    async keep(which, text) {
      const known = newest.get(which)
      // Stored, but perhaps on no record yet, and then swept after a day.
      if (known?.text === text && (await blobs.has(known.hash))) return known.hash
      const put = await insist(() => blobs.put([Buffer.from(text)])) // a turn does not fail for want of room
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
