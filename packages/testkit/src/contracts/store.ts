import { describe } from 'vitest'
import { describeCatalogue } from './store-catalogue.ts'
import type { OpenStore } from './store-fixture.ts'
import { describeLeases } from './store-leases.ts'
import { describeLog } from './store-log.ts'
import { describeReads } from './store-reads.ts'
import { describeTrusts } from './store-trusts.ts'

/** What every store owes the runtime. A new store is done when this passes, and not before. */
export function describeStore(name: string, open: OpenStore): void {
  describe(`${name} store`, () => {
    describeLog(open)
    describeReads(open)
    describeCatalogue(open)
    describeLeases(open)
    describeTrusts(open)
  })
}
