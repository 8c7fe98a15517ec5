import { constants, zstdCompressSync } from 'node:zlib'
import { createDice } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { compressBody } from './columns.ts'
import { decompressTogether } from './zstd-frames.ts'

const dice = createDice(7)
const words = Array.from({ length: 300 }, (_, index) => `w${(index * 7919) % 977}`)
/** Text of a few kilobytes. Runs of one character are what a compressor repeats with the first offsets of a frame. */
function someText(): string {
  const parts = Array.from({ length: dice.below(600) + 500 }, () => words[dice.below(words.length)] ?? '')
  return `${'aaaaaaaa'.repeat(dice.below(4))}${parts.join(' ')}${'ab'.repeat(dice.below(20))}é`
}
const compressed = (text: string, level = 1): Uint8Array =>
  zstdCompressSync(text, {
    params: { [constants.ZSTD_c_compressionLevel]: level },
    pledgedSrcSize: Buffer.byteLength(text),
  })
const together = (frames: readonly Uint8Array[]) => decompressTogether(frames)?.map(String)

describe('frames that are decompressed together', () => {
  it.each([1, 3, 9, 19])('give the same texts as each by itself, at level %i', (level) => {
    const texts = Array.from({ length: 100 }, someText)
    expect(together(texts.map((text) => compressed(text, level)))).toEqual(texts)
  })

  it('give the texts of bodies as they are stored', () => {
    const texts = Array.from({ length: 20 }, () => someText().repeat(2))
    const bodies = texts.map(compressBody).filter((body) => typeof body !== 'string')
    expect(bodies.length).toBe(texts.length)
    expect(together(bodies)).toEqual(texts)
  })

  it('may hold runs, which repeat the first offsets of their frame', () => {
    const texts = ['a'.repeat(3000), 'abcd'.repeat(900), 'abcdefgh'.repeat(500), 'b'.repeat(5000)]
    expect(together([...texts, ...texts].map((text) => compressed(text)))).toEqual([...texts, ...texts])
  })

  it.each([
    ['bytes that are no frame', Buffer.from('x'.repeat(100))],
    ['a frame of several blocks', compressed(Array.from({ length: 90 }, someText).join(''))],
    ['a frame that is cut', compressed(someText()).subarray(0, 60)],
    ['a frame with a checksum', zstdCompressSync(someText(), { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
  ])('are refused with %s among them', (_, frame) => {
    expect(decompressTogether([compressed(someText()), frame])).toBeNull()
  })

  it('never throw for damaged bytes', () => {
    const frames = Array.from({ length: 3 }, () => Buffer.from(compressed(someText())))
    for (let at = 0; at < 200; at += 3) {
      const damaged = frames.map((frame, index) => (index === 1 ? Uint8Array.from(frame).with(at, 0xa5) : frame))
      expect(() => decompressTogether(damaged)).not.toThrow()
    }
  })
})
