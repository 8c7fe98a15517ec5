import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findOutside, growRange, type LineChange, linesText, moveRange } from './boundary.ts'

const range = { start: 10, end: 12 }
const change = (line: number, removed: number, added: number): LineChange => ({ line, removed, added })

describe('an edit boundary', () => {
  it.each([
    ['a line inside', change(11, 1, 1), true],
    ['all lines', change(10, 3, 0), true],
    ['lines added at the beginning', change(10, 0, 2), true],
    ['lines added at the end', change(13, 0, 2), true],
    ['the line above', change(9, 1, 1), false],
    ['the line below', change(13, 1, 1), false],
    ['lines across the beginning', change(9, 2, 2), false],
    ['lines across the end', change(12, 2, 1), false],
    ['lines added below', change(14, 0, 1), false],
  ])('lets %s change or not', (_, changed, isAllowed) => {
    expect(findOutside(range, [changed]) === null).toBe(isAllowed)
  })

  it.each([
    ['lines added above', [change(0, 0, 2)], { start: 12, end: 14 }],
    ['lines added directly above', [change(10, 0, 2)], { start: 12, end: 14 }],
    ['lines removed above', [change(2, 3, 1)], { start: 8, end: 10 }],
    ['a line changed inside', [change(11, 1, 4)], { start: 10, end: 15 }],
    ['lines below', [change(13, 4, 0), change(20, 0, 9)], range],
    ['lines above and inside', [change(0, 1, 0), change(12, 1, 0)], { start: 9, end: 10 }],
    ['the first line replaced', [change(10, 1, 2)], { start: 10, end: 13 }],
    ['lines across the beginning', [change(9, 2, 2)], null],
    ['lines across the end', [change(12, 2, 2)], null],
    ['lines around it', [change(5, 20, 1)], null],
  ])('follows %s by others', (_, changes, after) => {
    expect(moveRange(range, changes)).toEqual(after)
  })

  it('keeps every line outside it, for any sequence of edits', () => {
    const edits = fc.array(fc.record({ line: fc.nat(30), removed: fc.nat(5), added: fc.nat(5) }), { maxLength: 40 })
    fc.assert(
      fc.property(edits, fc.nat(20), fc.nat(10), (tried, start, length) => {
        let lines = Array.from({ length: 25 }, (_, index) => `line ${index}`)
        let allowed = { start, end: Math.min(24, start + length) }
        const above = lines.slice(0, allowed.start)
        const below = lines.slice(allowed.end + 1)
        for (const [number, edit] of tried.entries()) {
          if (edit.line + edit.removed > lines.length || findOutside(allowed, [edit]) !== null) continue
          const added = Array.from({ length: edit.added }, (_, index) => `edit ${number}.${index}`)
          lines = lines.toSpliced(edit.line, edit.removed, ...added)
          allowed = growRange(allowed, [edit])
        }
        expect(lines.slice(0, allowed.start)).toEqual(above)
        expect(lines.slice(allowed.end + 1)).toEqual(below)
      }),
    )
  })
})

it('names lines for people, counted from 1', () => {
  expect(linesText({ start: 3, end: 9 })).toBe('lines 4–10')
  expect(linesText({ start: 3, end: 3 })).toBe('line 4')
  expect(linesText({ start: 3, end: 2 })).toBe('new lines before line 4')
})
