import { describe, expect, it } from 'vitest'
import { parseAge } from './age.ts'

describe('parseAge', () => {
  it.each([
    ['90m', 90 * 60_000],
    ['12h', 12 * 3_600_000],
    ['30d', 30 * 86_400_000],
    ['2w', 14 * 86_400_000],
    ['0d', 0],
    ['365000d', 365_000 * 86_400_000],
  ])('parses %s', (text, ms) => {
    expect(parseAge(text)).toBe(ms)
  })

  it.each(['', '30', 'd', '-1d', '1.5d', '30 d', '30D', '1y', '9999999d', '365001d', '52143w', '30d '])(
    'is none: %s',
    (text) => {
      expect(parseAge(text)).toBeNull()
    },
  )
})
