import { createHash } from 'node:crypto'
import type { BlobHash } from '@holdfast/protocol'
import type { BlobReader } from '../../blobs/file-blobs.ts'
import { connect, type Database } from '../connect/connect.ts'
import type { PostgresLocation } from '../connect/postgres-url.ts'

/** Reads a content chunk by chunk. */
export async function* readChunks({ read }: Database, content: number): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number += 1) {
    const [row] = await read('select bytes from @chunk where content = $1 and number = $2', [content, number])
    if (row === undefined) return
    yield row['bytes'] as Uint8Array // the column holds bytes
  }
}

/** Opens the blobs of a database to read. Restores none that a sweep has set aside. */
export async function openPostgresBlobReader(location: PostgresLocation): Promise<BlobReader & AsyncDisposable> {
  const database = await connect(location)
  const open = async (hash: BlobHash) => {
    const [row] = await database.read('select content from @blob where hash = $1', [hash])
    return row === undefined ? null : readChunks(database, Number(row['content']))
  }
  return {
    open,
    async isWhole(hash) {
      const chunks = await open(hash)
      if (chunks === null) return false
      const digest = createHash('sha256')
      for await (const chunk of chunks) digest.update(chunk)
      return digest.digest('hex') === hash
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
}
