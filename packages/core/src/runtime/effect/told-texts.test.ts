import { BlobHash, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../ports/blobs.ts'
import { createToldTexts } from './told-texts.ts'

const hashOf = (number: number) => BlobHash.parse(String(number).repeat(64))

/** Blobs that tell what was asked of them. */
function countingBlobs() {
  const asked: string[] = []
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
    has: async () => true,
  }
  return { blobs, asked }
}

describe('told texts', () => {
  it('stores the same text once, and gives it back without asking the disk', async () => {
    const { blobs, asked } = countingBlobs()
    const told = createToldTexts(blobs)
    const hash = await told.keep('system', 'Be kind.')
    expect(await told.keep('system', 'Be kind.')).toBe(hash)
    expect(await told.read(hash)).toBe('Be kind.')
    expect(asked).toEqual(['put 1'])
  })

  it('reads from the disk what it did not store itself, as after a wake', async () => {
    const { blobs, asked } = countingBlobs()
    expect(await createToldTexts(blobs).read(hashOf(7))).toBe('from the disk')
    expect(asked).toEqual(['open 7'])
  })

  it('throws for a text that is gone', async () => {
    await expect(createToldTexts(countingBlobs().blobs).read(hashOf(9))).rejects.toThrow('is gone')
  })
})
