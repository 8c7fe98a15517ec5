import { describe, expect, it } from 'vitest'
import { chooseLine, lineAfterKey, rangeOf } from './line-selection.ts'

describe('choosing lines', () => {
  it('starts at one line and extends in both directions', () => {
    const one = chooseLine(null, 4, false)
    expect(rangeOf(one)).toEqual({ start: 4, end: 4 })
    expect(rangeOf(chooseLine(one, 7, true))).toEqual({ start: 4, end: 7 })
    expect(rangeOf(chooseLine(chooseLine(one, 7, true), 1, true))).toEqual({ start: 1, end: 4 })
    expect(rangeOf(chooseLine(null, 3, true))).toEqual({ start: 3, end: 3 })
    expect(rangeOf(chooseLine(one, 9, false))).toEqual({ start: 9, end: 9 })
  })

  it.each([
    ['ArrowDown', 4, 5],
    ['ArrowUp', 0, 0],
    ['PageDown', 95, 99],
    ['PageUp', 50, 30],
    ['Home', 50, 0],
    ['End', 50, 99],
    ['a', 50, null],
  ])('%s moves from line %i to %s', (key, from, to) => {
    expect(lineAfterKey(key, from, 100)).toBe(to)
  })
})
