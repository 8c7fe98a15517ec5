import { createHash } from 'node:crypto'
import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { checkedBlob } from './read-blob.ts'

const hashOf = (text: string) => BlobHash.parse(createHash('sha256').update(text).digest('hex'))

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

/** What a reader was given, and what it was told at the end. */
async function readOf(hash: BlobHash, bytes: AsyncIterable<Uint8Array>) {
  let text = ''
  try {
    for await (const chunk of checkedBlob(hash, bytes)) text += Buffer.from(chunk).toString()
    return { text, fault: null }
  } catch (fault) {
    return { text, fault }
  }
}

describe('a checked blob', () => {
  it.each([[[]], [['whole']], [['who', 'le']], [['', 'w', 'hole']]])('of %j is given as it is', async (texts) => {
    expect(await readOf(hashOf(texts.join('')), pieces(...texts))).toEqual({ text: texts.join(''), fault: null })
  })

  it.each([
    ['of one piece is not given at all', ['whale'], ''],
    ['breaks off before its last piece', ['who', 'l3'], 'who'],
    ['that was cut is not given to its end', ['wh', 'o'], 'wh'],
    ['that is empty and should not be is no blob', [], ''],
  ])('that is damaged %s', async (_, texts, given) => {
    const hash = hashOf('whole')
    expect(await readOf(hash, pieces(...texts))).toMatchObject({
      text: given,
      fault: { code: 'storage_error', details: { reason: 'damaged', blob: hash } },
    })
  })

  it('lets go of the bytes when its reader leaves', async () => {
    let isLeft = false
    async function* bytes() {
      try {
        yield* pieces('a', 'b', 'c')
      } finally {
        isLeft = true
      }
    }
    for await (const _ of checkedBlob(hashOf('abc'), bytes())) break
    expect(isLeft).toBe(true)
  })
})
