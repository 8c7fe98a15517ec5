import type { Tally, Usage } from '@holdfast/protocol'

/** A sum in the making. */
export type Sum = { -readonly [Name in keyof Tally]: Tally[Name] } & { cost: number }

export const emptySum = (): Sum => ({
  ...{ messages: 0, turns: 0, calls: 0, unpriced: 0 },
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
})

/** One call of a model; null where nobody knows what it used. */
export function callSum(usage: Usage | null): Sum {
  const { input, output, cacheRead, cacheWrite, cost } = usage ?? { ...emptySum(), cost: null }
  const unpriced = cost === null ? 1 : 0
  return { ...emptySum(), calls: 1, unpriced, input, output, cacheRead, cacheWrite, cost: cost ?? 0 }
}

export function addSum(sum: Sum, more: Sum): void {
  for (const name of Object.keys(more) as (keyof Sum)[]) sum[name] += more[name] // the keys of a Sum
}

export const tallyOf = (sum: Sum): Tally => ({
  ...sum,
  cost: sum.calls > 0 && sum.unpriced === sum.calls ? null : Math.round(sum.cost * 1e9) / 1e9,
})
