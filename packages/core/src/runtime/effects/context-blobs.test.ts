import { createHash } from 'node:crypto'
import { BlobHash, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../ports/blobs.ts'
import { createContextBlobs } from './context-blobs.ts'

const hashOf = (number: number) => BlobHash.parse(String(number).repeat(64))

/** Blobs that tell what was asked of them. */
function countingBlobs() {
  const asked: string[] = []
  const swept = new Set<BlobHash>()
  let puts = 0
  const blobs: Blobs = {
    async put() {
      puts += 1
      asked.push(`put ${puts}`)
      return ok({ hash: hashOf(puts), bytes: 1 })
    },
    async open(hash) {
      asked.push(`open ${hash[0]}`)
      return hash === hashOf(9)
        ? null
        : (async function* () {
            yield Buffer.from('from the disk')
          })()
    },
    has: async (hash) => !swept.has(hash),
    sweep: () => Promise.reject(new Error('never asked')),
  }
  return { blobs, asked, swept }
}

describe('told texts', () => {
  it('stores the same text once, and gives it back without asking the disk', async () => {
    const { blobs, asked } = countingBlobs()
    const told = createContextBlobs(blobs)
    const hash = await told.keep('system', 'Be kind.')
    expect(await told.keep('system', 'Be kind.')).toBe(hash)
    expect(await told.read(hash)).toBe('Be kind.')
    expect(asked).toEqual(['put 1'])
  })

  it('stores a text again that was swept before any record named it', async () => {
    const { blobs, asked, swept } = countingBlobs()
    const told = createContextBlobs(blobs)
    swept.add(await told.keep('system', 'Be kind.'))
    expect(await told.keep('system', 'Be kind.')).toBe(hashOf(2))
    expect(asked).toEqual(['put 1', 'put 2'])
  })

  it('reads from the disk what it did not store itself, as after a wake', async () => {
    const { blobs, asked } = countingBlobs()
    const hash = BlobHash.parse(createHash('sha256').update('from the disk').digest('hex'))
    expect(await createContextBlobs(blobs).read(hash)).toBe('from the disk')
    expect(asked).toEqual([`open ${hash[0]}`])
  })

  it('refuses a text that is not the one its name says', async () => {
    const { blobs } = countingBlobs()
    await expect(createContextBlobs(blobs).read(hashOf(7))).rejects.toMatchObject({
      code: 'storage_error',
      details: { reason: 'damaged', blob: hashOf(7) },
    })
  })

  it('throws for a text that is gone', async () => {
    await expect(createContextBlobs(countingBlobs().blobs).read(hashOf(9))).rejects.toThrow('is gone')
  })
})
