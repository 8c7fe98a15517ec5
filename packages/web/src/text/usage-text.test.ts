import { noUsage } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { costText, tokensText, usageText } from './usage-text.ts'

describe('usage', () => {
  it('shows an unknown cost as unknown, never as zero', () => {
    expect(costText(null)).toBe('cost unknown')
    expect(costText(0)).toBe('$0.00')
  })

  it('shows the digits of a small cost', () => {
    expect(costText(0.0042)).toBe('$0.0042')
    expect(costText(1.5)).toBe('$1.50')
  })

  it.each([
    [999, '999'],
    [1234, '1.2k'],
    [45_600, '46k'],
    [2_340_000, '2.3M'],
  ])('formats %d tokens as %s', (tokens, said) => {
    expect(tokensText(tokens)).toBe(said)
  })

  it('fits on one line', () => {
    const usage = { ...noUsage, input: 1200, output: 80, cacheRead: 5000, cost: null }
    expect(usageText(usage)).toBe('1.2k in (+5.0k cached) · 80 out · cost unknown')
  })
})
