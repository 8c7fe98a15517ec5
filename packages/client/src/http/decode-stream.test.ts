import { encodeFrame, Frame } from '@holdfast/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeFrames, UnreadableFrame } from './decode-stream.ts'

const sessionId = 'ses_01k9xyzabcdefghjkmnpqrstvw'
const recordFrame = (text: string): Frame =>
  Frame.parse({
    type: 'record',
    sessionId,
    record: {
      seq: 7,
      at: '2026-01-02T03:04:05.678Z',
      v: 1,
      event: { type: 'user.said', turn: 0, content: [{ type: 'text', text }] },
    },
  })
const delta = (text: string): Frame =>
  Frame.parse({ type: 'delta', sessionId, step: 3, part: 0, kind: 'text', index: 0, text })

const inChunks = (bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> => {
  let at = 0
  let turn = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const size = sizes[turn++ % sizes.length] ?? 1
      controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
  })
}
const joined = (...pieces: readonly Uint8Array[]) => new Uint8Array(pieces.flatMap((piece) => [...piece]))
const decode = (bytes: Uint8Array, sizes = [1 << 20]) => Array.fromAsync(decodeFrames(inChunks(bytes, sizes)))
const ofText = (text: string) => new TextEncoder().encode(text)

describe('decodeFrames', () => {
  it('decodes what was encoded, wherever the network splits it', async () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('é😀\n\ndata: x\n')), { maxLength: 4 })
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (words, cuts) => {
        const frames = words.flatMap((text) => [recordFrame(text), delta(text)])
        expect(await decode(joined(...frames.flatMap(encodeFrame)), cuts)).toEqual(frames)
      }),
      { numRuns: 50 },
    )
  })

  it('throws on an invalid frame of a known type', async () => {
    const odd = new TextEncoder().encode('event: record\ndata: {"type":"record","record":{"seq":"nine"}}\n\n')
    await expect(decode(joined(odd))).rejects.toThrow(UnreadableFrame)
  })

  it('ignores heartbeats and unknown event types', async () => {
    const noise = new TextEncoder().encode(': beat\n\nevent: later\ndata: {"type":"later"}\n\n')
    expect(await decode(joined(noise, ...encodeFrame(delta('hi')), noise))).toEqual([delta('hi')])
  })

  it('ignores an incomplete frame at the end', async () => {
    const whole = joined(...encodeFrame(delta('hi')))
    expect(await decode(joined(whole, whole.slice(0, -1)))).toEqual([delta('hi')])
  })

  it('cancels the connection when its reader stops', async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(joined(...encodeFrame(delta('again')))),
      cancel: () => {
        isCancelled = true
      },
    })
    for await (const _ of decodeFrames(body)) break
    expect(isCancelled).toBe(true)
  })

  const data = JSON.stringify(delta('hi'))
  it.each([
    ['line feeds', `event: delta\ndata: ${data}\n\n`],
    ['carriage returns', `event: delta\rdata: ${data}\r\r`],
    ['both', `event: delta\r\ndata: ${data}\r\n\r\n`],
    ['no space after the colon', `event:delta\ndata:${data}\n\n`],
    ['a comment within the event', `: beat\nevent: delta\n: beat\ndata: ${data}\n\n`],
    ['a byte order mark', `\ufeffevent: delta\ndata: ${data}\n\n`],
    [
      'data in two lines',
      `data: ${data.slice(0, 20).replace(/,[^,]*$/, ',')}\ndata: ${data.slice(data.slice(0, 20).lastIndexOf(',') + 1)}\n\n`,
    ],
    ['unknown fields', `wombat: 1\nretry: x\ndata: ${data}\n\n`],
  ])('accepts %s', async (_, text) => {
    for (const size of [1, 2, 3, 1 << 20])
      expect(await decode(ofText(`${text}data: ${data}\n\n`), [size])).toHaveLength(2)
  })
})
