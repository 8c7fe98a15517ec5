import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { BlobHash, done, ok, type Result } from '@holdfast/protocol'
import { openFileBlobs } from '../../../packages/holdfast/src/entry/store.ts'
import { blobAt, sha256 } from '../workload.ts'
import type { Read, Subject } from './subject.ts'

/** Blobs as a log: the n-th blob is put after the one before was acknowledged, and is found by its hash. */
export async function openBlobSubject(directory: string): Promise<Result<Subject>> {
  const opened = await openFileBlobs(directory)
  if (!opened.ok) return opened
  const blobs = opened.value

  /** A blob's name is its checksum, so a reader detects damage, and `put` replaces it. */
  async function readOne(log: number, n: number): Promise<Read> {
    const hash = BlobHash.parse(sha256(blobAt(log, n)))
    const stream = await blobs.open(hash)
    if (stream === null) return 'missing'
    const digest = createHash('sha256')
    for await (const chunk of stream) digest.update(chunk)
    return digest.digest('hex') === hash ? hash : 'lost'
  }

  async function head(log: number): Promise<number> {
    let n = 0
    while (await blobs.has(BlobHash.parse(sha256(blobAt(log, n + 1))))) n += 1
    return n
  }

  return ok({
    head,
    async read(log, upTo) {
      const read = await Promise.all(Array.from({ length: upTo + 1 }, (_, index) => readOne(log, index + 1)))
      return read.slice(0, read.findLastIndex((one) => one !== 'missing') + 1)
    },
    page: async () => [],
    async submit(log, after) {
      const put = await blobs.put([blobAt(log, after + 1)])
      return put.ok ? done : put
    },
    close: async () => undefined,
  })
}

/** Returns the path of the n-th blob of a log. */
export function blobPathIn(directory: string, log: number, n: number): string {
  const hash = sha256(blobAt(log, n))
  return join(directory, hash.slice(0, 2), hash.slice(2))
}
