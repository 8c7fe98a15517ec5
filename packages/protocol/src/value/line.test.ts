import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clipLine, isOnLine, type Line } from './line.ts'

const line: Line = [
  { from: 1, to: 4 },
  { from: 9, to: 9 },
  { from: 20, to: null },
]

describe('a line of spans', () => {
  it('contains the seqs of its spans, both ends included', () => {
    const held = [1, 4, 5, 8, 9, 10, 19, 20, 1000].filter((seq) => isOnLine(line, seq))
    expect(held).toEqual([1, 4, 9, 20, 1000])
  })

  it('is clipped to a range, oldest first, with its open end closed', () => {
    expect(clipLine(line, 3, 22)).toEqual([
      { from: 3, to: 4 },
      { from: 9, to: 9 },
      { from: 20, to: 22 },
    ])
  })

  it('is empty when clipped to a range outside it', () => {
    expect(clipLine(line, 5, 8)).toEqual([])
    expect(clipLine(line, 9, 3)).toEqual([])
  })

  it('contains a seq exactly if clipping to that seq finds it', () => {
    fc.assert(
      fc.property(fc.nat(60), (seq) => {
        expect(clipLine(line, seq, seq).length === 1).toBe(isOnLine(line, seq))
      }),
    )
  })
})
