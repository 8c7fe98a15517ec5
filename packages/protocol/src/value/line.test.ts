import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clipLine, isOnLine, type Line } from './line.ts'

const line: Line = [
  { from: 1, to: 4 },
  { from: 9, to: 9 },
  { from: 20, to: null },
]

describe('a line of spans', () => {
  it('holds the seqs of its spans, both ends included, and none between', () => {
    const held = [1, 4, 5, 8, 9, 10, 19, 20, 1000].filter((seq) => isOnLine(line, seq))
    expect(held).toEqual([1, 4, 9, 20, 1000])
  })

  it('is cut to a range, oldest first, with its open end closed', () => {
    expect(clipLine(line, 3, 22)).toEqual([
      { from: 3, to: 4 },
      { from: 9, to: 9 },
      { from: 20, to: 22 },
    ])
  })

  it('leaves nothing where the range misses it', () => {
    expect(clipLine(line, 5, 8)).toEqual([])
    expect(clipLine(line, 9, 3)).toEqual([])
  })

  it('holds a seq exactly if a cut around that seq alone finds it', () => {
    fc.assert(
      fc.property(fc.nat(60), (seq) => {
        expect(clipLine(line, seq, seq).length === 1).toBe(isOnLine(line, seq))
      }),
    )
  })
})
