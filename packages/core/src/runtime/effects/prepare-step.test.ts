import { createHash } from 'node:crypto'
import { BlobHash, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../ports/store/blobs.ts'
import { createContextBlobs } from './prepare-step.ts'

const hashOf = (number: number) => BlobHash.parse(String(number).repeat(64))

/** Creates blobs that list the calls they get. */
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

describe('the stored system text and tool schemas', () => {
  it('stores the same text once and reads it from its cache', async () => {
    const { blobs, asked } = countingBlobs()
    const contextBlobs = createContextBlobs(blobs)
    const hash = await contextBlobs.store('system', 'Be kind.')
    expect(await contextBlobs.store('system', 'Be kind.')).toBe(hash)
    expect(await contextBlobs.read(hash)).toBe('Be kind.')
    expect(asked).toEqual(['put 1'])
  })

  it('stores a text again if a sweep removed it before a record referred to it', async () => {
    const { blobs, asked, swept } = countingBlobs()
    const contextBlobs = createContextBlobs(blobs)
    swept.add(await contextBlobs.store('system', 'Be kind.'))
    expect(await contextBlobs.store('system', 'Be kind.')).toBe(hashOf(2))
    expect(asked).toEqual(['put 1', 'put 2'])
  })

  it('reads a text from the disk after a restart', async () => {
    const { blobs, asked } = countingBlobs()
    const hash = BlobHash.parse(createHash('sha256').update('from the disk').digest('hex'))
    expect(await createContextBlobs(blobs).read(hash)).toBe('from the disk')
    expect(asked).toEqual([`open ${hash[0]}`])
  })

  it('rejects a text that does not match its hash', async () => {
    const { blobs } = countingBlobs()
    await expect(createContextBlobs(blobs).read(hashOf(7))).rejects.toMatchObject({
      code: 'storage_error',
      details: { reason: 'damaged', blob: hashOf(7) },
    })
  })

  it('throws for a missing text', async () => {
    await expect(createContextBlobs(countingBlobs().blobs).read(hashOf(9))).rejects.toThrow('is gone')
  })
})
