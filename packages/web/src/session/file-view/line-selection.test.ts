import { describe, expect, it } from 'vitest'
import { chooseLine, lineAfterKey, rangeOf, tapLine, typeLine } from './line-selection.ts'

describe('choosing lines', () => {
  it('starts at one line and extends in both directions', () => {
    const one = chooseLine(null, 4, false)
    expect(rangeOf(one)).toEqual({ start: 4, end: 4 })
    expect(rangeOf(chooseLine(one, 7, true))).toEqual({ start: 4, end: 7 })
    expect(rangeOf(chooseLine(chooseLine(one, 7, true), 1, true))).toEqual({ start: 1, end: 4 })
    expect(rangeOf(chooseLine(null, 3, true))).toEqual({ start: 3, end: 3 })
    expect(rangeOf(chooseLine(one, 9, false))).toEqual({ start: 9, end: 9 })
  })

  it('by touch takes two taps for a range, and starts again with the third', () => {
    const one = tapLine(null, 4)
    expect(one && rangeOf(one)).toEqual({ start: 4, end: 4 })
    const two = tapLine(one, 1)
    expect(two && rangeOf(two)).toEqual({ start: 1, end: 4 })
    expect(tapLine(two, 2)).toEqual({ anchor: 2, end: 2 })
    expect(tapLine(one, 4)).toBeNull()
  })

  it('by typed numbers counts from 1, stays inside the file, and moves the other end out of the way', () => {
    const typed = (which: 'first' | 'last', text: string, from: readonly [number, number] | null = [4, 7]) => {
      const chosen = typeLine(from && { anchor: from[0], end: from[1] }, which, text, 100)
      return chosen && rangeOf(chosen)
    }
    expect(typed('first', '3')).toEqual({ start: 2, end: 7 })
    expect(typed('last', '500')).toEqual({ start: 4, end: 99 })
    expect(typed('first', '20')).toEqual({ start: 19, end: 19 })
    expect(typed('last', '2')).toEqual({ start: 1, end: 1 })
    expect(typed('last', '9', null)).toEqual({ start: 8, end: 8 })
    for (const text of ['', '0', '-3', '1.5', 'x']) expect(typed('first', text)).toEqual({ start: 4, end: 7 })
    expect(typeLine(null, 'first', '1', 0)).toBeNull()
  })

  it.each([
    ['ArrowDown', 4, 5],
    ['ArrowUp', 0, 0],
    ['PageDown', 95, 99],
    ['PageUp', 50, 30],
    ['Home', 50, 0],
    ['End', 50, 99],
    ['ArrowDown', null, 0],
    ['End', null, 99],
    ['a', 50, null],
  ])('%s moves from line %s to %s', (key, from, to) => {
    expect(lineAfterKey(key, from, 100)).toBe(to)
  })
})
