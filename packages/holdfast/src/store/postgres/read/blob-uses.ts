import type { BlobUses } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import type { Database } from '../connect/connect.ts'
import { lineage } from './log-reader.ts'

/** Answers which blobs the records refer to. */
export const createBlobUses = ({ read }: Database): BlobUses => ({
  blobsInUse: async (signal) => async (hashes) => {
    if (signal?.aborted) return new Set(hashes)
    const rows = await read(
      'select hash from unnest($1::text[]) hash where exists (select 1 from @blob_use used where used.hash = hash.hash)',
      [hashes],
    )
    return new Set(rows.map(({ hash }) => hash as BlobHash)) // one of `hashes`
  },
  // A batch marks its blobs at its first record; a fork may begin within it.
  async refersTo(session, hash) {
    const [row] = await read(
      `${lineage} select 1 from lineage join @blob_use using (sid) where hash = $4 and seq <= high limit 1`,
      [session, 0, Number.MAX_SAFE_INTEGER, hash],
    )
    return row !== undefined
  },
})
