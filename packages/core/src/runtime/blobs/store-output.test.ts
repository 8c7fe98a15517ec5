import { limits, refuse } from '@holdfast/protocol'
import { diskFull } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryBlobs } from '../../../../holdfast/src/store/blobs/memory-blobs.ts'
import type { Blobs } from '../../ports/store/blobs.ts'
import { readBlob } from './read-blob.ts'
import { storeOutput } from './store-output.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
async function readAll(given: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  for await (const _ of given);
}
const inline = limits.toolOutputInlineBytesMax

describe('output', () => {
  it('that is short is kept inline, as it is', async () => {
    expect(await storeOutput(createMemoryBlobs(), [bytes('one '), bytes('two')])).toEqual({ text: 'one two' })
    expect(await storeOutput(createMemoryBlobs(), [bytes('x'.repeat(inline))])).toEqual({ text: 'x'.repeat(inline) })
  })

  it('that is long shows head and tail with a marker, and is stored completely', async () => {
    const blobs = createMemoryBlobs()
    const whole = `HEAD${'x'.repeat(3 * inline)}TAIL`
    const { text, blob } = await storeOutput(blobs, [bytes(whole)])
    expect(text).toMatch(/^HEADx+\n\[… \d+ bytes left out; the whole output is kept as [0-9a-f]{64} …\]\nx+TAIL$/)
    expect(text).toContain(`${whole.length - inline} bytes left out`)
    expect(blob?.bytes).toBe(whole.length)
    expect(blob && Buffer.from((await readBlob(blobs, blob.hash)) ?? []).toString()).toBe(whole)
  })

  it('shows 8 KB of its head and 24 KB of its tail', async () => {
    const { text } = await storeOutput(createMemoryBlobs(), [bytes(`${'h'.repeat(50_000)}${'t'.repeat(50_000)}`)])
    expect(/^h+/.exec(text)?.[0].length).toBe(8 * 1024)
    expect(/t+$/.exec(text)?.[0].length).toBe(24 * 1024)
  })

  it('is shown as another text, and its bytes are stored if that changed them', async () => {
    const blobs = createMemoryBlobs()
    const insist: NonNullable<Parameters<typeof storeOutput>[2]> = (write) => write()
    const toText = (text: string) => text.replaceAll('\r', '')
    expect(await storeOutput(blobs, [bytes('one\n')], insist, toText)).toEqual({ text: 'one\n' })
    const { text, blob } = await storeOutput(blobs, [bytes('one\r\n')], insist, toText)
    expect({ text, bytes: blob?.bytes }).toEqual({ text: 'one\n', bytes: 5 })
    expect(blob && Buffer.from((await readBlob(blobs, blob.hash)) ?? []).toString()).toBe('one\r\n')
  })

  it('has the same tail however it is cut into chunks', async () => {
    const whole = bytes(Array.from({ length: 9000 }, (_, line) => `${line}\n`).join(''))
    const chunks = Array.from({ length: Math.ceil(whole.length / 700) }, (_, index) =>
      whole.slice(index * 700, index * 700 + 700),
    )
    const [once, often] = await Promise.all([
      storeOutput(createMemoryBlobs(), [whole]),
      storeOutput(createMemoryBlobs(), chunks),
    ])
    expect(often).toEqual(once)
  })

  it('is valid text even after a cut character or for binary data', async () => {
    const { text } = await storeOutput(createMemoryBlobs(), [
      bytes(`x${'😀'.repeat(inline)}`),
      new Uint8Array([0xff, 0xfe]),
    ])
    expect(text.isWellFormed()).toBe(true)
    expect((await storeOutput(createMemoryBlobs(), [new Uint8Array([0xc3])])).text).toBe('\ufffd')
  })

  it('waits for disk space and is then stored completely, if its beginning is still in memory', async () => {
    const inner = createMemoryBlobs()
    const refusing = (refusals: number): Blobs => ({
      ...inner,
      async put(given) {
        if (refusals === 0) return inner.put(given)
        refusals -= 1
        let read = 0
        for await (const chunk of given) {
          read += chunk.length
          if (read > 3 * inline) break
        }
        return refuse(diskFull)
      },
    })
    const again: NonNullable<Parameters<typeof storeOutput>[2]> = async (write) => {
      const written = await write()
      return written.ok ? written : again(write)
    }
    const chunks = (count: number) => Array.from({ length: count }, (_, index) => bytes(`${index} `.repeat(inline / 4)))
    const short = chunks(40)
    expect(await storeOutput(refusing(2), short, again)).toEqual(await storeOutput(inner, short))
    const { text, blob } = await storeOutput(
      { ...inner, put: (given) => readAll(given).then(() => refuse(diskFull)) },
      [...chunks(400), bytes('THE END')],
      again,
    )
    expect(text).toMatch(/^0 0 .+ bytes left out; they could not be kept: .*full\. …\]\n.+THE END$/s)
    expect(blob).toBeUndefined()
  })

  it('that is larger than a blob may be is refused', async () => {
    await expect(storeOutput(createMemoryBlobs({ bytesMax: 20_000 }), [new Uint8Array(60_000)])).rejects.toMatchObject({
      code: 'too_large',
    })
  })
})
