import { createHash } from 'node:crypto'
import type { BlobHash } from '@holdfast/protocol'
import type { Environment } from '../../../system/home.ts'
import type { BlobReader } from '../../blobs/file-blobs.ts'
import { connect } from '../connect/connect.ts'
import type { PostgresLocation } from '../connect/postgres-url.ts'
import { createContents } from './contents.ts'
import { createS3Objects, isMissing } from './s3-objects.ts'

/** Opens the blobs of a database to read. Restores none that a sweep has set aside. */
export async function openPostgresBlobReader(
  location: PostgresLocation,
  environment?: Environment,
): Promise<BlobReader & AsyncDisposable> {
  const database = await connect(location)
  const contents = createContents(database, createS3Objects(environment))
  const open = async (hash: BlobHash) => {
    const [row] = await database.read('select content from @blob where hash = $1', [hash])
    return row === undefined ? null : contents.read(Number(row['content']))
  }
  return {
    open,
    async isWhole(hash) {
      const chunks = await open(hash)
      if (chunks === null) return false
      const digest = createHash('sha256')
      try {
        for await (const chunk of chunks) digest.update(chunk)
      } catch (cause) {
        if (isMissing(cause)) return false
        throw cause
      }
      return digest.digest('hex') === hash
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
}
