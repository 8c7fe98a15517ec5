import type { Charge, ListedSpending, SpentOn, StoredCap } from '@holdfast/core/ports'
import type { CapScope, Day, Spent } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol/limits'
import { addSpent, noneSpent } from '@holdfast/protocol/sum-spent'

/** The day before which a store may forget what was spent. */
export const oldestDay = (day: Day): Day =>
  new Date(Date.parse(day) - limits.spendingDaysMax * 86_400_000).toISOString().slice(0, 10)

/** Adds charges to sums by day, payer and workspace. */
export function addCharges(sums: readonly Charge[], charges: readonly Charge[]): readonly Charge[] {
  const all = new Map<string, Charge>()
  for (const { day, payer, workspace, ...spent } of [...sums, ...charges]) {
    const key = JSON.stringify([day, payer, workspace])
    all.set(key, { day, payer, workspace, ...addSpent(all.get(key) ?? noneSpent, spent) })
  }
  return [...all.values()]
}

/** What was spent on one day, in memory: in all, by payer and by workspace. */
export function createDaySums() {
  let total = noneSpent
  const payers = new Map<string, Spent>()
  const workspaces = new Map<string, Spent>()
  const addTo = (sums: Map<string, Spent>, name: string, spent: Spent) =>
    sums.set(name, addSpent(sums.get(name) ?? noneSpent, spent))

  return {
    add({ day: _, payer, workspace, ...spent }: Charge): void {
      total = addSpent(total, spent)
      addTo(payers, payer, spent)
      addTo(workspaces, workspace, spent)
    },
    of: ({ payer, workspace }: Pick<Charge, 'payer' | 'workspace'>): SpentOn => ({
      all: { ...total },
      payer: { ...(payers.get(payer) ?? noneSpent) },
      workspace: { ...(workspaces.get(workspace) ?? noneSpent) },
    }),
    list: (limit: number): ListedSpending => ({
      total: { ...total },
      payers: listLargest(payers, limit).map(([payer, spent]) => ({ payer, ...spent })),
      workspaces: listLargest(workspaces, limit).map(([workspace, spent]) => ({ workspace, ...spent })),
    }),
  }
}

export type DaySums = ReturnType<typeof createDaySums>

const listLargest = (sums: ReadonlyMap<string, Spent>, limit: number): readonly (readonly [string, Spent])[] =>
  [...sums]
    .toSorted(([one, left], [other, right]) => compareSpent(left, right) || (one < other ? -1 : 1))
    .slice(0, limit)

/** Compares for lists: the most expensive first, then the one with the most tokens. */
const compareSpent = (left: Spent, right: Spent): number =>
  (right.cost ?? 0) - (left.cost ?? 0) || right.tokens - left.tokens

/** Returns a text for what a cap is for, which sorts as `caps` of the port does. */
export const scopeKey = ({ token, workspace }: CapScope): string => {
  if (token !== undefined) return `token ${token}`
  return workspace === undefined ? 'all' : `workspace ${workspace}`
}

/** Caps in memory, at most one for each scope. */
export function withCap(caps: readonly StoredCap[], cap: StoredCap): readonly StoredCap[] {
  const key = scopeKey(cap)
  const others = caps.filter((one) => scopeKey(one) !== key)
  return [...others, { ...cap }].toSorted((left, right) => (scopeKey(left) < scopeKey(right) ? -1 : 1))
}

export const withoutCap = (caps: readonly StoredCap[], scope: CapScope): readonly StoredCap[] =>
  caps.filter((one) => scopeKey(one) !== scopeKey(scope))

/** Stands for all payers, or all workspaces. No payer and no path has this name. */
export const allRows = '*'

type Row = Readonly<Record<string, unknown>>

/** Reads the sums of a row. Its cost is that of the calls with a price. */
export function toSpent(row: Row): Spent {
  const [calls, unpriced, tokens] = [Number(row['calls']), Number(row['unpriced']), Number(row['tokens'])]
  return { calls, unpriced, tokens, cost: calls > 0 && calls === unpriced ? null : Number(row['cost']) }
}

/** Reads a cap from its row. */
export function toCap(row: Row): StoredCap {
  const { token, workspace, max_cost: maxCost, max_tokens: maxTokens } = row
  return {
    ...(token !== null && { token: String(token) }),
    ...(workspace !== null && { workspace: String(workspace) }),
    ...(maxCost !== null && { maxCost: Number(maxCost) }),
    ...(maxTokens !== null && { maxTokens: Number(maxTokens) }),
  }
}
