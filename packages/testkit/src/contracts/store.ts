import { describe, expect, it } from 'vitest'
import { describeBlobUses } from './store-blob-uses.ts'
import { describeCatalogue } from './store-catalogue.ts'
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
import { describeLeases } from './store-leases.ts'
import { describeLists } from './store-lists.ts'
import { describeLog } from './store-log.ts'
import { describeReads } from './store-reads.ts'
import { describeSearch } from './store-search.ts'
import { describeTrash } from './store-trash.ts'
import { describeTrusts } from './store-trusts.ts'

const suites = [
  describeLog,
  describeReads,
  describeCatalogue,
  describeLists,
  describeTrash,
  describeBlobUses,
  describeLeases,
  describeProbe,
  describeTrusts,
  describeSearch,
]

/** What every store owes the runtime. A new store is done when this passes, and not before. */
export function describeStore(name: string, open: OpenStore): void {
  // Each apart: a suite opens a store before each of the tests beside it.
  for (const suite of suites) describe(`${name} store`, () => suite(open))
}

/** Whether the disk takes writes is found out by writing, of which nothing may be left. */
function describeProbe(open: OpenStore): void {
  const store = useStore(open)

  describe('probe', () => {
    it('succeeds repeatedly on a healthy disk and changes nothing', async () => {
      await mustCreate(store(), newSession(1))
      const look = async () => [await store().list({ limit: 10 }), await store().nodes(), await readAll(store(), 1)]
      const before = await look()
      expect([codeOf(await store().probe()), codeOf(await store().probe())]).toEqual(['ok', 'ok'])
      expect(await look()).toEqual(before)
      await mustAppend(store(), appendTo(1, 1))
    })
  })
}
