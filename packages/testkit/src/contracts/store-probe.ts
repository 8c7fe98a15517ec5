import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  readAll,
  useStore,
} from './store-fixture.ts'

/** Whether the disk takes writes is found out by writing, of which nothing may be left. */
export function describeProbe(open: OpenStore): void {
  const store = useStore(open)

  describe('probe', () => {
    it('is taken by a disk that is well, however often, and changes nothing', async () => {
      await mustCreate(store(), newSession(1))
      const look = async () => [await store().list({ limit: 10 }), await store().nodes(), await readAll(store(), 1)]
      const before = await look()
      expect([codeOf(await store().probe()), codeOf(await store().probe())]).toEqual(['ok', 'ok'])
      expect(await look()).toEqual(before)
      await mustAppend(store(), appendTo(1, 1))
    })
  })
}
