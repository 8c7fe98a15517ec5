import { describe, expect, it } from 'vitest'
import { addUsage, noUsage } from './usage.ts'

const used = (cost: number | null) => ({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost })

describe('usage', () => {
  it('adds up', () => {
    expect(addUsage(addUsage(noUsage, used(0.5)), used(0.25))).toEqual({
      input: 2,
      output: 4,
      cacheRead: 6,
      cacheWrite: 8,
      cost: 0.75,
    })
  })

  it('is of unknown price once one price is unknown, and stays so', () => {
    expect(addUsage(addUsage(noUsage, used(null)), used(0.25)).cost).toBeNull()
  })
})
