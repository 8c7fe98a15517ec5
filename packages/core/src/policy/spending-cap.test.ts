import { type Cap, noneSpent, type Spent } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { applies, findCapFault } from './spending-cap.ts'

const anna = 'tok_000000000000000a'
const payment = { payer: anna, workspace: '/work' }
const spent = (cost: number | null, tokens = 100): Spent => ({
  calls: 1,
  unpriced: cost === null ? 1 : 0,
  tokens,
  cost,
})

function faultOf(caps: readonly Cap[], sums: { readonly [name: string]: Spent } = {}, isPriced = true) {
  return findCapFault({
    caps,
    isPriced,
    payerName: 'anna',
    day: '2026-01-31',
    nowMs: Date.parse('2026-01-31T18:00:00Z'),
    model: 'sim/model',
    spent: { all: noneSpent, payer: noneSpent, workspace: noneSpent, ...sums },
  })
}

describe('a cap', () => {
  it('applies to everything, to its token, or to its workspace', () => {
    expect(applies({}, payment)).toBe(true)
    expect([applies({ token: anna }, payment), applies({ token: 'local' }, payment)]).toEqual([true, false])
    expect([applies({ workspace: '/work' }, payment), applies({ workspace: '/other' }, payment)]).toEqual([true, false])
  })

  it('is reached by what was spent in its scope, at its amount', () => {
    expect(faultOf([{ maxCost: 5 }], { payer: spent(9), workspace: spent(9), all: spent(4.99) })).toBeNull()
    expect(faultOf([{ maxCost: 5 }], { all: spent(5) })).toMatchObject({ code: 'spending_cap' })
    const rounded = Array.from({ length: 11 }, () => 0.2).reduce((sum, cost) => sum + cost, 0)
    expect(faultOf([{ maxCost: 2.2 }], { all: spent(rounded) })).toMatchObject({ code: 'spending_cap' })
    for (const maxCost of [1e-10, Number.MIN_VALUE]) {
      expect(faultOf([{ maxCost }], { all: spent(0) })).toBeNull()
      expect(faultOf([{ maxCost }], { all: spent(1e-10) })).toMatchObject({ code: 'spending_cap' })
    }
    expect(faultOf([{ maxCost: 0 }], { all: spent(0) })).toMatchObject({ code: 'spending_cap' })
    expect(faultOf([{ token: anna, maxCost: 5 }], { all: spent(9), payer: spent(4) })).toBeNull()
    expect(faultOf([{ token: anna, maxCost: 5 }], { payer: spent(5) })).toMatchObject({
      message: expect.stringContaining(`a day for the token anna (${anna}) is reached`),
      details: { token: anna },
    })
    expect(faultOf([{ workspace: '/work', maxTokens: 100 }], { workspace: spent(null) })).toMatchObject({
      code: 'spending_cap',
      details: { limit: 'tokens' },
    })
  })

  it('counts together with all others: the tightest wins', () => {
    const caps = [{ maxCost: 100 }, { token: anna, maxCost: 50 }, { workspace: '/work', maxCost: 5 }]
    const sums = { all: spent(5), payer: spent(5), workspace: spent(5) }
    expect(faultOf(caps, sums)).toMatchObject({ details: { workspace: '/work', maxCost: 5 } })
  })

  it('names itself, what was spent, when it opens again, and what to do', () => {
    const fault = faultOf([{ token: anna, maxCost: 5 }], { payer: spent(5.02) })
    expect(fault?.message).toBe(
      `The cap of $5.00 a day for the token anna (${anna}) is reached: $5.02 was spent today. It opens again at 2026-02-01 00:00 UTC; or raise it (holdfast caps), then continue.`,
    )
    expect(fault?.details).toEqual({
      limit: 'cost',
      token: anna,
      maxCost: 5,
      spent: spent(5.02),
      opensAt: '2026-02-01T00:00:00.000Z',
      retryAfterSeconds: 6 * 3600,
    })
    expect(faultOf([{ token: 'local', maxCost: 0.5 }], { payer: spent(0.5025) })?.message).toContain(
      '$0.50 a day for the person at this machine is reached: $0.5025 was spent',
    )
    expect(faultOf([{ maxTokens: 100 }], { all: spent(1) })?.message).toContain(
      'The cap of 100 tokens a day for everything is reached: 100 tokens were spent today.',
    )
  })

  it('of 0 stops everything', () => {
    expect(faultOf([{ maxCost: 0 }])).toMatchObject({ code: 'spending_cap' })
    expect(faultOf([{ maxTokens: 0 }])).toMatchObject({ code: 'spending_cap' })
  })

  it('in dollars refuses a model without a price, unless it counts tokens too', () => {
    expect(faultOf([{ maxCost: 5 }], {}, false)).toMatchObject({
      code: 'price_unknown',
      message: expect.stringContaining('The price of sim/model is unknown'),
    })
    expect(faultOf([{ maxCost: 5, maxTokens: 1000 }], {}, false)).toBeNull()
    expect(faultOf([{ maxTokens: 1000 }], {}, false)).toBeNull()
    expect(faultOf([{ maxCost: 5, maxTokens: 100 }], { all: spent(null) }, false)).toMatchObject({
      code: 'spending_cap',
      details: { limit: 'tokens' },
    })
    // Calls of unknown price that were made before the cap was set do not reach it.
    expect(faultOf([{ maxCost: 5 }], { all: spent(null) })).toBeNull()
  })
})
