import type { Blobs } from '@holdfast/core/ports'
import { BlobHash, orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'

/** Describes what the runtime requires of every blob store. Open it with a limit of `blobTestBytesMax`. */
export const blobTestBytesMax = 100_000

export function describeBlobs(name: string, open: () => Promise<Blobs>): void {
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  const hello = BlobHash.parse('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')

  describe(`${name} blobs`, () => {
    it('names bytes by their hash and returns them', async () => {
      const blobs = await open()
      expect(await blobs.put([bytesOf('hello')])).toEqual({ ok: true, value: { hash: hello, bytes: 5 } })
      expect(await blobs.has(hello)).toBe(true)
      expect(await textOf(await blobs.open(hello))).toBe('hello')
    })

    it('accepts a stream in chunks of any size', async () => {
      const blobs = await open()
      async function* pieces() {
        for (const letter of 'hello') yield bytesOf(letter)
      }
      expect(await blobs.put(pieces())).toEqual({ ok: true, value: { hash: hello, bytes: 5 } })
      expect(await textOf(await blobs.open(hello))).toBe('hello')
    })

    it('stores the same bytes once', async () => {
      const blobs = await open()
      const puts = await Promise.all([1, 2, 3].map(() => blobs.put([bytesOf('hello')])))
      expect(puts).toEqual([1, 2, 3].map(() => ({ ok: true, value: { hash: hello, bytes: 5 } })))
      expect(await textOf(await blobs.open(hello))).toBe('hello')
    })

    it('stores an empty blob', async () => {
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

    it('accepts as many bytes as the limit, and refuses one more without reading the rest', async () => {
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

    it('stores nothing of a stream that fails', async () => {
      const blobs = await open()
      function* broken() {
        yield bytesOf('hel')
        throw new Error('the client hung up')
      }
      await expect(blobs.put(broken())).rejects.toThrow('the client hung up')
      expect(await blobs.has(hello)).toBe(false)
    })

    describe('sweep', () => {
      const graceMs = 1000
      const nothing = { removed: 0, bytes: 0, setAside: 0 }
      const none = async () => new Set<BlobHash>()
      const only =
        (...used: readonly BlobHash[]) =>
        async (hashes: readonly BlobHash[]) =>
          new Set(hashes.filter((hash) => used.includes(hash)))
      /** Returns the n-th time at which all blobs stored now are older than the grace period. */
      const later = (nth: number) => ({ now: Date.now() + nth * 10 * graceMs, graceMs })

      async function holding(...texts: readonly string[]) {
        const blobs = await open()
        const hashes: BlobHash[] = []
        for (const text of texts) hashes.push(orThrow(await blobs.put([bytesOf(text)])).hash)
        return { blobs, hashes }
      }

      it('sets unreferenced blobs aside, and removes them if they stay unreferenced', async () => {
        const { blobs, hashes } = await holding('hello', 'in use')
        const [one, used] = hashes as [BlobHash, BlobHash]
        expect(await blobs.sweep(only(used), later(1))).toEqual({ ...nothing, setAside: 1 })
        expect(await blobs.sweep(only(used), { ...later(1), graceMs: 5 * graceMs })).toEqual(nothing)
        expect(await blobs.sweep(only(used), later(2))).toEqual({ ...nothing, removed: 1, bytes: 5 })
        expect(await blobs.has(one)).toBe(false)
        expect(await blobs.open(one)).toBeNull()
        expect(await textOf(await blobs.open(used))).toBe('in use')
        expect(await blobs.sweep(only(used), later(3))).toEqual(nothing)
      })

      it('keeps blobs within the grace period', async () => {
        const { blobs, hashes } = await holding('hello')
        expect(await blobs.sweep(none, { now: Date.now(), graceMs: 60_000 })).toEqual(nothing)
        expect(await blobs.has(hashes[0] ?? hello)).toBe(true)
      })

      it('restores a blob that is referenced after it was set aside', async () => {
        const { blobs, hashes } = await holding('hello')
        await blobs.sweep(none, later(1))
        expect(await blobs.sweep(only(...hashes), later(2))).toEqual(nothing)
        expect(await blobs.sweep(only(...hashes), later(3))).toEqual(nothing)
        expect(await textOf(await blobs.open(hello))).toBe('hello')
      })

      it.each(['put', 'has', 'open'] as const)('restores a blob set aside when a %s needs it', async (by) => {
        const { blobs } = await holding('hello')
        await blobs.sweep(none, later(1))
        if (by === 'put') await blobs.put([bytesOf('hello')])
        else if (by === 'has') expect(await blobs.has(hello)).toBe(true)
        else expect(await textOf(await blobs.open(hello))).toBe('hello')
        // It is no longer set aside, so the next sweep sets it aside again.
        expect(await blobs.sweep(none, later(2))).toEqual({ ...nothing, setAside: 1 })
        expect(await textOf(await blobs.open(hello))).toBe('hello')
      })

      it.each(['put', 'has', 'open'] as const)('never removes a blob during a %s of it', async (by) => {
        for (const nth of [1, 2]) {
          const { blobs } = await holding('hello')
          if (nth === 2) await blobs.sweep(none, later(1))
          const unused = async () => {
            if (by === 'put') await blobs.put([bytesOf('hello')])
            else if (by === 'has') expect(await blobs.has(hello)).toBe(true)
            else expect(await textOf(await blobs.open(hello))).toBe('hello')
            return new Set<BlobHash>()
          }
          expect(await blobs.sweep(unused, later(nth))).toMatchObject({ removed: 0 })
          expect(await textOf(await blobs.open(hello))).toBe('hello')
        }
      })

      it('loses nothing to concurrent puts and reads', async () => {
        const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`)
        const { blobs, hashes } = await holding(...texts)
        const work = texts.flatMap((text, index) => {
          const hash = hashes[index] ?? hello
          return [
            async () => void (await blobs.put([bytesOf(text)])),
            async () => expect(await blobs.has(hash)).toBe(true),
            async () => expect(await textOf(await blobs.open(hash))).toBe(text),
          ]
        })
        const sweeps = [1, 1, 1].map((nth) => blobs.sweep(none, later(nth)))
        await Promise.all([...sweeps, ...work.map((one) => one())])
        for (const [index, hash] of hashes.entries()) expect(await textOf(await blobs.open(hash))).toBe(texts[index])
      })

      it('reports what would be removed without changing anything', async () => {
        const { blobs } = await holding('hello', 'more')
        const dry = (nth: number) => blobs.sweep(only(), { ...later(nth), dryRun: true })
        expect(await dry(1)).toEqual({ ...nothing, setAside: 2 })
        expect(await dry(1)).toEqual({ ...nothing, setAside: 2 })
        await blobs.sweep(none, later(1))
        expect(await dry(2)).toEqual({ removed: 2, bytes: 9, setAside: 0 })
        expect(await blobs.sweep(none, later(2))).toEqual({ removed: 2, bytes: 9, setAside: 0 })
      })

      it('asks for references in bounded batches, and stops if they are unknown', async () => {
        const { blobs } = await holding('hello')
        const asked: number[] = []
        await blobs.sweep(async (hashes) => {
          asked.push(hashes.length)
          return new Set()
        }, later(1))
        expect(asked.every((count) => count <= 1000)).toBe(true)
        const unknown = () => Promise.reject(new Error('the store is closed'))
        await expect(blobs.sweep(unknown, later(2))).rejects.toThrow('the store is closed')
        expect(await textOf(await blobs.open(hello))).toBe('hello')
      })
    })
  })
}

async function textOf(stream: AsyncIterable<Uint8Array> | null): Promise<string> {
  if (stream === null) throw new Error('there is no such blob')
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
