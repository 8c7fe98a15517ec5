import type { Blobs } from '@holdfast/core/ports'
import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'

/** What every keeper of blobs owes the runtime; it is opened with a limit of `blobTestBytesMax`. */
export const blobTestBytesMax = 100_000

export function describeBlobs(name: string, open: () => Promise<Blobs>): void {
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  const hello = BlobHash.parse('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')

  describe(`${name} blobs`, () => {
    it('names bytes by their hash and gives them back', async () => {
      const blobs = await open()
      expect(await blobs.put([bytesOf('hello')])).toEqual({ ok: true, value: { hash: hello, bytes: 5 } })
      expect(await blobs.has(hello)).toBe(true)
      expect(await textOf(await blobs.open(hello))).toBe('hello')
    })

    it('takes a stream, however it is cut', async () => {
      const blobs = await open()
      async function* pieces() {
        for (const letter of 'hello') yield bytesOf(letter)
      }
      expect(await blobs.put(pieces())).toEqual({ ok: true, value: { hash: hello, bytes: 5 } })
      expect(await textOf(await blobs.open(hello))).toBe('hello')
    })

    it('keeps the same bytes once', async () => {
      const blobs = await open()
      const puts = await Promise.all([1, 2, 3].map(() => blobs.put([bytesOf('hello')])))
      expect(puts).toEqual([1, 2, 3].map(() => ({ ok: true, value: { hash: hello, bytes: 5 } })))
      expect(await textOf(await blobs.open(hello))).toBe('hello')
    })

    it('keeps nothing as well', async () => {
      const blobs = await open()
      const empty = await blobs.put([])
      if (!empty.ok) throw new Error(empty.fault.message)
      expect(empty.value.bytes).toBe(0)
      expect(await textOf(await blobs.open(empty.value.hash))).toBe('')
    })

    it('has no blob that was never put', async () => {
      const blobs = await open()
      expect(await blobs.has(hello)).toBe(false)
      expect(await blobs.open(hello)).toBeNull()
    })

    it('takes as many bytes as the limit, and refuses one more without asking for the rest', async () => {
      const blobs = await open()
      expect(await blobs.put([new Uint8Array(blobTestBytesMax)])).toMatchObject({ ok: true })
      let asked = 0
      function* endless() {
        for (;;) {
          asked += 1
          yield new Uint8Array(blobTestBytesMax / 2)
        }
      }
      expect(await blobs.put(endless())).toMatchObject({ ok: false, fault: { code: 'too_large' } })
      expect(asked).toBe(3)
    })

    it('keeps nothing of a stream that breaks', async () => {
      const blobs = await open()
      function* broken() {
        yield bytesOf('hel')
        throw new Error('the client hung up')
      }
      await expect(blobs.put(broken())).rejects.toThrow('the client hung up')
      expect(await blobs.has(hello)).toBe(false)
    })
  })
}

async function textOf(stream: AsyncIterable<Uint8Array> | null): Promise<string> {
  if (stream === null) throw new Error('there is no such blob')
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
