import { createHash } from 'node:crypto'
import type { Blobs } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { ok, refuse } from '@holdfast/protocol/result'
import { blobTooLarge } from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'
import { readChunks } from './blob-reader.ts'
import { sweepBlobs } from './sweep-blobs.ts'

const chunkBytes = 256 * 1024
const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/**
 * Stores blobs in the database, in chunks, so that none is held in memory. The bytes are written under a number and get
 * their hash at the end: bytes without a hash are invisible, and a sweep removes them.
 */
export function createPostgresBlobs(
  database: Database,
  { bytesMax = limits.toolOutputBytesMax }: { readonly bytesMax?: number } = {},
): Blobs {
  const { read, write } = database

  /** Restores a blob that was set aside, because a record may refer to it soon. Returns its content. */
  async function find(hash: BlobHash): Promise<number | null> {
    const [row] = await read('select content, aside_at from @blob where hash = $1', [hash])
    if (row === undefined) return null
    if (row['aside_at'] === null) return Number(row['content'])
    const [restored] = await write(
      `update @blob set aside_at = null, at = ${nowMs} where hash = $1 returning content`,
      [hash],
    )
    return restored === undefined ? null : Number(restored['content'])
  }

  return {
    put: (bytes) =>
      attempt(async () => {
        const upload = createUpload(database)
        const digest = createHash('sha256')
        let size = 0
        for await (const chunk of bytes) {
          size += chunk.byteLength
          if (size > bytesMax) {
            await upload.drop()
            return refuse(blobTooLarge(bytesMax))
          }
          digest.update(chunk)
          await upload.add(chunk)
        }
        const hash = digest.digest('hex') as BlobHash // a SHA-256 in hex
        await upload.publish(hash, size)
        return ok({ hash, bytes: size })
      }),

    async open(hash) {
      const content = await find(hash)
      return content === null ? null : readChunks(database, content)
    },

    has: async (hash) => (await find(hash)) !== null,

    sweep: (areUsed, options) => sweepBlobs(database, areUsed, options),
  }
}

/** Writes the chunks of one blob. A stream that fails leaves a content without a hash. */
function createUpload({ write }: Database) {
  let content: number | null = null
  let [pending, pendingBytes, number]: [Uint8Array[], number, number] = [[], 0, 0]

  async function flush(): Promise<void> {
    const bytes = Buffer.concat(pending)
    ;[pending, pendingBytes] = [[], 0]
    if (content === null) {
      const [row] = await write(`insert into @content (at) values (${nowMs}) returning id`)
      content = Number(row?.['id'])
    }
    await write('insert into @chunk (content, number, bytes) values ($1, $2, $3)', [content, number, bytes])
    number += 1
  }

  return {
    async add(bytes: Uint8Array): Promise<void> {
      for (let from = 0; from < bytes.byteLength; ) {
        const some = bytes.subarray(from, from + chunkBytes - pendingBytes)
        pending.push(some)
        pendingBytes += some.byteLength
        from += some.byteLength
        if (pendingBytes >= chunkBytes) await flush()
      }
    },
    /** Names the bytes by their hash. If there is such a blob already, these bytes are removed. */
    async publish(hash: BlobHash, size: number): Promise<void> {
      if (content === null || pendingBytes > 0) await flush()
      const [row] = await write(
        `insert into @blob (hash, content, bytes, at) values ($1, $2, $3, ${nowMs})
        on conflict (hash) do update set at = excluded.at, aside_at = null returning content`,
        [hash, content, size],
      )
      if (Number(row?.['content']) !== content) await write('delete from @content where id = $1', [content])
    },
    async drop(): Promise<void> {
      if (content !== null) await write('delete from @content where id = $1', [content])
    },
  }
}
