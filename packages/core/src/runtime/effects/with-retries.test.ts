import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { retryWaitMs } from './with-retries.ts'

const failed = (retryable: boolean, retryAfterMs: number | null = null) => ({
  type: 'failed' as const,
  fault: { kind: 'rate_limited' as const, message: 'Not now.' },
  retryable,
  retryAfterMs,
  usage: null,
})
const overloaded = failed(true)

describe('the wait before a call is tried again', () => {
  it.each([1, 2, 3])('is about twice as long each time: after try %i', (tries) => {
    const base = limits.retryWaitMs * 2 ** (tries - 1)
    for (let seed = 0; seed < 1000; seed++) {
      const waitMs = retryWaitMs(overloaded, tries, `seed ${seed}`)
      expect(waitMs).toBeGreaterThanOrEqual(base * 0.75)
      expect(waitMs).toBeLessThanOrEqual(base * 1.25)
    }
  })

  it('is the same for the same seed, and spreads clients refused together', () => {
    const waits = Array.from({ length: 1000 }, (_, seed) => retryWaitMs(overloaded, 1, `ses_${seed}:4`) ?? 0)
    expect(waits).toEqual(waits.map((_, seed) => retryWaitMs(overloaded, 1, `ses_${seed}:4`)))
    const quarters = [875, 1000, 1125].map((edge) => waits.filter((wait) => wait < edge).length)
    for (const [index, below] of quarters.entries()) expect(below / 250).toBeCloseTo(index + 1, 0)
  })

  it('is the time the service names, but never shorter than our own', () => {
    expect(retryWaitMs(failed(true, 6543), 3, '')).toBe(6543)
    for (const tries of [1, 2, 3]) {
      expect(retryWaitMs(failed(true, 0), tries, '')).toBe(retryWaitMs(overloaded, tries, ''))
    }
    expect(retryWaitMs(failed(true, limits.retryWaitMsMax), 1, '')).toBe(limits.retryWaitMsMax)
  })

  it('is none if it is too long, after the last try, or if a retry cannot succeed', () => {
    expect(retryWaitMs(failed(true, limits.retryWaitMsMax + 1), 1, '')).toBeNull()
    expect(retryWaitMs(overloaded, limits.retriesMax + 1, '')).toBeNull()
    expect(retryWaitMs(failed(false), 1, '')).toBeNull()
    expect(retryWaitMs(failed(false, 5), 1, '')).toBeNull()
  })
})
