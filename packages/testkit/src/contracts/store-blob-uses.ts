import type { Store } from '@holdfast/core/ports'
import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  sessionId,
  textsAfter,
  useStore,
} from './store-fixture.ts'

const hashOf = (digit: string) => BlobHash.parse(digit.repeat(64))
const [a, b, c, d] = [hashOf('a'), hashOf('b'), hashOf('c'), hashOf('d')]

/** Describes blob uses: a blob is in use while a readable record refers to it. */
export function describeBlobUses(open: OpenStore): void {
  const store = useStore(open)
  const used = async (of: Store = store()) => [...(await (await of.blobsInUse())([a, b, c, d]))].toSorted()
  const release = (number: number, epoch = 1) => store().release(sessionId(number), 'node-a', epoch)

  describe('blob uses', () => {
    it('are the blobs that the records of a session refer to', async () => {
      expect(await used()).toEqual([])
      await mustCreate(store(), newSession(1, { blobs: [a] }), newSession(2))
      expect(await used()).toEqual([a])
      await mustAppend(store(), appendTo(2, 1, { blobs: [b, a] }))
      await mustAppend(store(), appendTo(2, 2, { blobs: [b] }))
      expect(await used()).toEqual([a, b])
      const areUsed = await store().blobsInUse()
      expect([await areUsed([]), await areUsed([c]), await areUsed([c, b])]).toEqual([
        new Set(),
        new Set(),
        new Set([b]),
      ])
    })

    it('do not include blobs of a refused append', async () => {
      await mustCreate(store(), newSession(1))
      expect((await store().append(appendTo(1, 7, { blobs: [a] }))).ok).toBe(false)
      expect((await store().create(newSession(1, { blobs: [b] }))).ok).toBe(false)
      expect(await used()).toEqual([])
    })

    it('stay while the session is in the trash, and go with the last session', async () => {
      await mustCreate(store(), newSession(1, { blobs: [a, b] }), newSession(2, { blobs: [b] }))
      await release(1)
      await release(2)
      await store().trash(sessionId(1), 7)
      expect(await used()).toEqual([a, b])
      await store().purge(sessionId(1))
      expect(await used()).toEqual([b])
      await store().purge(sessionId(2))
      expect(await used()).toEqual([])
    })

    it('are returned while sessions and forks are being removed', async () => {
      const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
      for (const number of numbers) await mustCreate(store(), newSession(number, { blobs: [a] }))
      await mustCreate(store(), newSession(13, { blobs: [b] }), newSession(14, { parent: sessionId(1), base: 1 }))
      await Promise.all(numbers.map((number) => release(number)))
      const purged = numbers.map((number) => store().purge(sessionId(number)))
      let isOver = false
      const over = Promise.all(purged).then((answers) => {
        isOver = true
        return answers
      })
      while (!isOver) for (const some of await Promise.all([used(), used(), used()])) expect(some).toContain(b)
      expect((await over).every(({ ok }) => ok)).toBe(true)
      expect(await used()).toEqual([a, b])
    })

    it('stay for a fork up to its base, even within a batch', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1, { records: textsAfter(1, 'x', 'y', 'z'), blobs: [a] }))
      await mustAppend(store(), appendTo(1, 4, { blobs: [b] }))
      await mustCreate(store(), newSession(2, { parent: sessionId(1), base: 3, blobs: [c] }))
      await mustCreate(store(), newSession(3, { parent: sessionId(2), base: 4 }))
      for (const number of [1, 2, 3]) await release(number)
      await store().purge(sessionId(1))
      expect(await used()).toEqual([a, c])
      await store().purge(sessionId(2))
      expect(await used()).toEqual([a, c])
      expect(await store().refersTo(sessionId(3), a)).toBe(true)
      await store().purge(sessionId(3))
      expect(await used()).toEqual([])
    })

    it('include those of the inherited past', async () => {
      await mustCreate(store(), newSession(1, { blobs: [a] }))
      await mustAppend(store(), appendTo(1, 1, { blobs: [b] }))
      await mustCreate(store(), newSession(2, { parent: sessionId(1), base: 1, blobs: [c] }), newSession(3))
      const of = async (number: number) => {
        const answers = await Promise.all([a, b, c, d].map((hash) => store().refersTo(sessionId(number), hash)))
        return [a, b, c, d].filter((_, index) => answers[index])
      }
      expect([await of(1), await of(2), await of(3), await of(9)]).toEqual([[a, b], [a, c], [], []])
    })
  })
}
