import { describe, expect, it } from 'vitest'
import { pageAfter } from './read-only-store.ts'

describe('a page of sorted rows', () => {
  const sorted = [2, 3, 5, 8].map((order) => ({ order }))

  it('begins behind its place, whether a row stands there or not', () => {
    const orders = (after: number, limit: number) => pageAfter(sorted, after, limit).map(({ order }) => order)
    expect([orders(0, 2), orders(2, 2), orders(4, 9), orders(8, 9)]).toEqual([[2, 3], [3, 5], [5, 8], []])
    expect(pageAfter([], 0, 5)).toEqual([])
  })

  it('looks at few of the rows, however many there are', () => {
    let lookedAt = 0
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      get order() {
        lookedAt += 1
        return index
      },
    }))
    expect(pageAfter(many, 9_000, 10)).toHaveLength(10)
    expect(lookedAt).toBeLessThan(20)
  })
})
