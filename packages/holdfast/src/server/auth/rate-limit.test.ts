import { describe, expect, it } from 'vitest'
import { createRequestLimit } from './rate-limit.ts'

function open(perSecond: number, atOnce: number) {
  let nowMs = 0
  const { take } = createRequestLimit({ perSecond, atOnce }, () => nowMs)
  const count = (caller: string, tries: number) =>
    Array.from({ length: tries }, () => take(caller)).filter((refusal) => refusal === null).length
  return {
    take,
    count,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

describe('the limit of requests', () => {
  it('allows so many at once, then so many a second, for each caller alone', () => {
    const { count, pass } = open(10, 50)
    expect(count('token:a', 80)).toBe(50)
    expect(count('token:b', 80)).toBe(50)
    pass(1000)
    expect(count('token:a', 80)).toBe(10)
    pass(250)
    expect(count('token:a', 80)).toBe(2)
    pass(3_600_000)
    expect(count('token:a', 80)).toBe(50)
  })

  it('says when to try again', () => {
    const { take, count, pass } = open(0.5, 1)
    expect(count('token:a', 1)).toBe(1)
    expect(take('token:a')).toMatchObject({ code: 'too_many_requests', details: { retryAfterSeconds: 2 } })
    pass(2000)
    expect(take('token:a')).toBeNull()
  })

  it('is not lifted by a clock that is set back', () => {
    const { count, pass } = open(1, 5)
    expect(count('token:a', 9)).toBe(5)
    pass(-60_000)
    expect(count('token:a', 9)).toBe(0)
    pass(1000)
    expect(count('token:a', 9)).toBe(1)
  })

  it('remembers a bounded number of callers', () => {
    const { take, count } = open(1, 2)
    for (let caller = 0; caller < 20_000; caller++) take(`login:${caller}`)
    expect(count('login:19999', 9)).toBe(1)
  })
})
