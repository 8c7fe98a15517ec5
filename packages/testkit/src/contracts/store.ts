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
import { describeSpending } from './store-spending.ts'
import { describeTokens } from './store-tokens.ts'
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
  describeTokens,
  describeSpending,
  describeSearch,
]

/** Describes what the runtime requires of every store. A new store must pass it. */
export function describeStore(name: string, open: OpenStore): void {
  // A describe block for each suite, because a suite opens a store before each test of its block.
  for (const suite of suites) describe(`${name} store`, () => suite(open))
}

/** Describes `probe`, which tries a write to find out if the disk accepts it. */
function describeProbe(open: OpenStore): void {
  const store = useStore(open)

  describe('probe', () => {
    it('succeeds repeatedly on a healthy disk and changes nothing', async () => {
      await mustCreate(store(), newSession(1))
      const readStore = async () => [
        await store().list({ limit: 10 }),
        await store().nodes(),
        await readAll(store(), 1),
      ]
      const before = await readStore()
      expect([codeOf(await store().probe()), codeOf(await store().probe())]).toEqual(['ok', 'ok'])
      expect(await readStore()).toEqual(before)
      await mustAppend(store(), appendTo(1, 1))
    })
  })
}
