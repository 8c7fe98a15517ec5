import { describe } from 'vitest'
import { describeBlobUses } from './store-blob-uses.ts'
import { describeCatalogue } from './store-catalogue.ts'
import type { OpenStore } from './store-fixture.ts'
import { describeLeases } from './store-leases.ts'
import { describeLists } from './store-lists.ts'
import { describeLog } from './store-log.ts'
import { describeProbe } from './store-probe.ts'
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
