import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Blobs } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import { createBlobPlaces } from './blob-places.ts'
import { openIfThere } from './file-blobs.ts'

/** The blobs of a directory to look at, whether there is one or not. Nothing is made, made private or put back. */
export interface BlobReader extends Pick<Blobs, 'open'> {
  /** Whether its bytes are those its name says. */
  isWhole(hash: BlobHash): Promise<boolean>
}

export function createBlobReader(directory: string): BlobReader {
  const places = createBlobPlaces(directory)
  /** Also where a sweep set it aside, and there it stays. */
  const find = async (hash: BlobHash): Promise<FileHandle | null> =>
    (await openIfThere(places.kept(hash))) ?? openIfThere(places.aside(hash))

  return {
    open: async (hash) => (await find(hash))?.createReadStream() ?? null,
    async isWhole(hash) {
      const file = await find(hash)
      if (file === null) return false
      const digest = createHash('sha256')
      for await (const chunk of file.createReadStream()) digest.update(chunk)
      return digest.digest('hex') === hash
    },
  }
}
