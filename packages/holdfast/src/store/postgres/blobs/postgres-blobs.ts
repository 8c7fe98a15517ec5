import { createHash } from 'node:crypto'
import type { Blobs, OnProblem } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { ok, refuse } from '@holdfast/protocol/result'
import { blobTooLarge } from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'
import { createContents, nowMs } from './contents.ts'
import { createPlaceProbe } from './place-probe.ts'
import { createS3Objects, type S3Objects } from './s3-objects.ts'
import type { S3Place } from './s3-url.ts'
import { sweepBlobs } from './sweep-blobs.ts'

export type BlobOptions = {
  readonly bytesMax?: number | undefined
  /** Where new bytes go; the database by default. */
  readonly place?: S3Place | undefined
  readonly objects?: S3Objects | undefined
  readonly onProblem?: OnProblem | undefined
}

/**
 * Stores blobs piece by piece, so that none is held in memory: in the database, or elsewhere. The bytes are written under a
 * number and get their hash at the end: bytes without a hash are invisible, and a sweep removes them.
 */
export function createPostgresBlobs(database: Database, options: BlobOptions = {}): Blobs {
  const { bytesMax = limits.toolOutputBytesMax, objects = createS3Objects(), place = null, onProblem } = options
  const { read, write } = database
  const contents = createContents(database, objects, place)

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

  /** Names a content by its hash. If there is such a blob already, the content is removed. */
  async function publish(hash: BlobHash, content: number, size: number): Promise<void> {
    const [row] = await write(
      `insert into @blob (hash, content, bytes, at) values ($1, $2, $3, ${nowMs})
      on conflict (hash) do update set at = excluded.at, aside_at = null returning content`,
      [hash, content, size],
    )
    if (Number(row?.['content']) !== content) await contents.remove(content)
  }

  return {
    put: (bytes) =>
      attempt(async () => {
        const upload = contents.upload()
        const digest = createHash('sha256')
        let size = 0
        for await (const chunk of bytes) {
          size += chunk.byteLength
          if (size > bytesMax) {
            const written = upload.written()
            if (written !== null) await contents.remove(written)
            return refuse(blobTooLarge(bytesMax))
          }
          digest.update(chunk)
          await upload.add(chunk)
        }
        const hash = digest.digest('hex') as BlobHash // a SHA-256 in hex
        await publish(hash, await upload.end(), size)
        return ok({ hash, bytes: size })
      }),

    async open(hash) {
      const content = await find(hash)
      return content === null ? null : contents.read(content)
    },

    has: async (hash) => (await find(hash)) !== null,

    sweep: (areUsed, options) => sweepBlobs(database, contents, areUsed, options),

    ...(place && { probe: createPlaceProbe(objects, place, { onProblem }) }),
  }
}
