import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createMemoryBlobs } from '../../testing/memory-runtime.ts'
import { readBlob } from './read-blob.ts'
import { shortPreview, storePreview } from './store-preview.ts'

/** Arguments that count how many of their values are read. */
function countedArgs(length: number) {
  const count = { reads: 0 }
  const list = new Proxy(
    Array.from({ length }, () => 'a ship'),
    {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) count.reads++
        return Reflect.get(target, name)
      },
    },
  )
  return { count, args: { list } }
}

describe('a preview of long arguments', () => {
  it('is cut before it is printed: twice as many values cost the same work', () => {
    const works = [10_000, 20_000].map((length) => {
      const { count, args } = countedArgs(length)
      const preview = shortPreview({ preview: { type: 'arguments', args } })
      expect(JSON.stringify(preview).length).toBeLessThan(limits.previewBytesMax)
      return count.reads
    })
    expect(works[0]).toBe(works[1])
  })

  it('is stored whole, with hidden characters escaped, in several slices', async () => {
    const blobs = createMemoryBlobs()
    const args = {
      first: '\u202e',
      text: 'x'.repeat(1024 * 1024),
      list: Array.from({ length: 20_000 }, () => 1),
      last: 'end',
    }
    let slices = 0
    let isOver = false
    const count = () => {
      slices++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const storage = { blobs, insist: (work: () => unknown) => work(), signal: new AbortController().signal }
    const preview = await storePreview({ preview: { type: 'arguments', args } }, storage as never) // a disk that is never full
    isOver = true
    expect(slices).toBeGreaterThan(20)
    if (!preview.blob) throw new Error('the whole is not stored')
    const whole = new TextDecoder().decode((await readBlob(blobs, preview.blob.hash)) ?? undefined)
    expect(whole).toBe(JSON.stringify({ ...args, first: '\\u{202e}' }, null, 2))
    expect(JSON.stringify(preview)).toContain('"last":"end"')
    expect(preview.blob.bytes).toBe(whole.length)
  })
})
