import type { Charge, SpendingRows, StoredCap } from '@holdfast/core/ports'
import { done, ok } from '@holdfast/protocol'
import { createDaySums, type DaySums, oldestDay, withCap, withoutCap } from '../ledger.ts'

/** Creates the caps and what was spent in memory. `add` adds the charge of an append. */
export function createMemorySpending(): { readonly add: (charge: Charge) => void; readonly rows: SpendingRows } {
  const days = new Map<string, DaySums>()
  let caps: readonly StoredCap[] = []
  const add = (charge: Charge): void => {
    const known = days.get(charge.day)
    if (!known) for (const day of days.keys()) if (day < oldestDay(charge.day)) days.delete(day)
    const sums = known ?? createDaySums()
    days.set(charge.day, sums)
    sums.add(charge)
  }
  const sumsOf = (day: string): DaySums => days.get(day) ?? createDaySums()
  return {
    add,
    rows: {
      async addCharge(charge) {
        add(charge)
        return done
      },
      spentOn: async (day, of) => sumsOf(day).of(of),
      listSpending: async (day, limit) => sumsOf(day).list(limit),
      caps: async () => caps.map((cap) => ({ ...cap })),
      async setCap(cap) {
        caps = withCap(caps, cap)
        return done
      },
      async removeCap(scope) {
        const before = caps.length
        caps = withoutCap(caps, scope)
        return ok(caps.length < before)
      },
    },
  }
}
