import { describe, expect, it } from 'vitest'
import { createEventSplitter } from './split-events.ts'

const encoder = new TextEncoder()
const text = ': hi\n\ntag: w1\ndata: {"a":1}\n\ntag: w1\nid: 2\ndata: {"é":"\\n"}\n\ntag: w2\ndata: 3\n\ndata: all\n\n'

/** Returns the text for each tag, in order. */
const byTag = (parts: readonly { readonly tag: string | null; readonly bytes: Uint8Array }[]) => {
  const found: [string | null, string][] = []
  for (const { tag, bytes } of parts) {
    const last = found.at(-1)
    if (last && last[0] === tag) last[1] += new TextDecoder().decode(bytes)
    else found.push([tag, new TextDecoder().decode(bytes)])
  }
  return found
}

const whole = [
  [null, ': hi\n\n'],
  ['w1', 'data: {"a":1}\n\nid: 2\ndata: {"é":"\\n"}\n\n'],
  ['w2', 'data: 3\n\n'],
  [null, 'data: all\n\n'],
]

describe('the event splitter', () => {
  it('divides events by their tags and removes the tags', () => {
    expect(byTag(createEventSplitter().split(encoder.encode(text)))).toEqual(whole)
    expect(createEventSplitter().split(encoder.encode(text))).toHaveLength(4)
  })

  it('finds the same events wherever the bytes are cut', () => {
    const bytes = encoder.encode(text)
    for (let size = 1; size < 20; size++) {
      const splitter = createEventSplitter()
      const parts = []
      for (let at = 0; at < bytes.length; at += size) parts.push(...splitter.split(bytes.subarray(at, at + size)))
      expect(byTag(parts)).toEqual(whole)
    }
  })

  it('gives each part a buffer of its own, which can be transferred', () => {
    const parts = createEventSplitter().split(encoder.encode(text))
    expect(parts.map(({ bytes }) => bytes.buffer.byteLength === bytes.byteLength)).toEqual([true, true, true, true])
  })
})
