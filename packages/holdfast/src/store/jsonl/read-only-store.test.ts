import { describe, expect, it } from 'vitest'
import { pageAfter } from './read-only-store.ts'

describe('pageAfter', () => {
  const sorted = [2, 3, 5, 8].map((order) => ({ order }))

  it('starts after the position, whether or not a row has it', () => {
    const orders = (after: number, limit: number) => pageAfter(sorted, after, limit).map(({ order }) => order)
    expect([orders(0, 2), orders(2, 2), orders(4, 9), orders(8, 9)]).toEqual([[2, 3], [3, 5], [5, 8], []])
    expect(pageAfter([], 0, 5)).toEqual([])
  })

  it('reads few rows, however many there are', () => {
    let reads = 0
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      get order() {
        reads += 1
        return index
      },
    }))
    expect(pageAfter(many, 9_000, 10)).toHaveLength(10)
    expect(reads).toBeLessThan(20)
  })
})
