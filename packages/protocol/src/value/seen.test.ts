import { describe, expect, it } from 'vitest'
import { BlobHash } from './id.ts'
import { limits } from './limits.ts'
import { addSeen, isSeenWhole } from './seen.ts'

const [one, other] = ['a', 'b'].map((digit) => BlobHash.parse(digit.repeat(64)))
const lines = (from: number, to: number, hash = one ?? BlobHash.parse(''), path = 'f') => ({
  path,
  hash,
  from,
  to,
  of: 9,
})

describe('the files that a session has seen', () => {
  it('joins pages of the same bytes to the whole file', () => {
    const [half] = addSeen([], [lines(5, 9)])
    expect(half && isSeenWhole(half)).toBe(false)
    const [whole] = addSeen(half ? [half] : [], [lines(1, 4)])
    expect(whole).toEqual({ path: 'f', hash: one, ranges: [[1, 9]], of: 9 })
    expect(whole && isSeenWhole(whole)).toBe(true)
  })

  it('forgets lines of other bytes', () => {
    const known = addSeen([], [lines(1, 4), lines(5, 9, other)])
    expect(known).toEqual([{ path: 'f', hash: other, ranges: [[5, 9]], of: 9 }])
  })

  it('counts an empty file as seen', () => {
    const [empty] = addSeen([], [{ ...lines(1, 0), of: 0 }])
    expect(empty && isSeenWhole(empty)).toBe(true)
  })

  it('keeps a bounded number of files, ranges and characters', () => {
    const many = Array.from({ length: limits.seenFilesMax + 5 }, (_, index) => lines(1, 1, one, `f${index}`))
    expect(addSeen([], many)).toHaveLength(limits.seenFilesMax)
    const gaps = Array.from({ length: limits.seenRangesMax + 5 }, (_, index) => lines(index * 3 + 1, index * 3 + 1))
    expect(addSeen([], gaps)[0]?.ranges).toHaveLength(limits.seenRangesMax)
    expect(addSeen([], [lines(1, 1, one, 'p'.repeat(limits.seenPathCharsMax + 1))])).toEqual([])
  })
})
