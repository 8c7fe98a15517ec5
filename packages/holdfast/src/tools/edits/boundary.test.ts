import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkChanges, checkTexts, differingLines, findBoundary } from './boundary.ts'
import { applySplices, countLines, type Splice, wholeLines } from './splice.ts'

const text = (...lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
const numbered = Array.from({ length: 20 }, (_, index) => `line ${index}`)
const range = { start: 5, end: 8 }

describe('the lines that differ', () => {
  it.each([
    ['nothing', 'a\nb\n', 'a\nb\n', []],
    ['a line changed', 'a\nb\nc\n', 'a\nB\nc\n', [{ line: 1, removed: 1, added: 1 }]],
    ['lines added', 'a\nb\n', 'a\nx\ny\nb\n', [{ line: 1, removed: 0, added: 2 }]],
    [
      'two places',
      'a\nb\nc\nd\ne\n',
      'A\nb\nc\nd\n',
      [
        { line: 0, removed: 1, added: 1 },
        { line: 4, removed: 1, added: 0 },
      ],
    ],
  ])('are those of %s', (_, before, after, changes) => {
    expect(differingLines(before, after)).toEqual(changes)
  })

  it('are not known if too many changed', () => {
    const before = text(...Array.from({ length: 6000 }, (_, index) => `a${index}`))
    const after = text(...Array.from({ length: 6000 }, (_, index) => `b${index}`))
    expect(differingLines(before, after)).toBeNull()
  })
})

describe('a boundary', () => {
  it('moves with lines that others add above, and refuses when they change its edge', () => {
    const counted = text(...numbered)
    const above = text('new', ...numbered)
    const both = text('new', ...numbered.slice(0, -1), 'last')
    const edge = text(...numbered.toSpliced(4, 2, 'crossing'))
    expect(findBoundary('a.ts', range, counted, above)).toEqual({ ok: true, value: { start: 6, end: 9 } })
    expect(findBoundary('a.ts', range, counted, both)).toEqual({ ok: true, value: { start: 6, end: 9 } })
    expect(findBoundary('a.ts', range, counted, edge)).toMatchObject({ fault: { code: 'outside_boundary' } })
  })

  it('judges each edit by the lines that the edits before it left', () => {
    const inside = { line: 6, removed: 1, added: 3 }
    const last = { line: 10, removed: 1, added: 0 }
    expect(checkChanges('a.ts', range, [inside, last])).toEqual({ ok: true, value: { start: 5, end: 9 } })
    const below = { line: 11, removed: 1, added: 0 }
    expect(checkChanges('a.ts', range, [inside, below])).toMatchObject({
      fault: {
        message: 'edit outside boundary: it touches line 12 of a.ts, allowed are lines 6\u201311',
      },
    })
  })

  it('judges a whole text by the lines that differ', () => {
    const before = text(...numbered)
    const twice = text(...numbered.with(5, 'five').with(8, 'eight'))
    expect(checkTexts('a.ts', range, before, twice)).toEqual({ ok: true, value: range })
    expect(checkTexts('a.ts', range, before, text(...numbered.with(5, 'five').with(12, 'x')))).toMatchObject({
      fault: { code: 'outside_boundary', details: { line: 12 } },
    })
  })

  it('keeps every line outside it byte for byte, whatever is tried', () => {
    const splice = fc.record({
      line: fc.nat(22),
      removed: fc.nat(4),
      added: fc.array(fc.constantFrom('x\n', 'y\r\n'), { maxLength: 4 }),
    })
    fc.assert(
      fc.property(fc.array(splice, { maxLength: 30 }), (tried) => {
        let current = text(...numbered)
        let allowed = range
        for (const { line, removed, added } of tried) {
          const lines = current.split(/(?<=\n)/)
          const gone = wholeLines(lines.slice(line, line + removed).join(''))
          const one: Splice = { line, removed: gone, added: wholeLines(added.join('')) }
          const judged = checkChanges('a.ts', allowed, countLines([one]))
          if (line + removed > lines.length || !judged.ok) continue
          current = applySplices(current, [one])
          allowed = judged.value
        }
        const lines = current.split(/(?<=\n)/)
        expect(lines.slice(0, allowed.start).join('')).toBe(text(...numbered.slice(0, 5)))
        expect(lines.slice(allowed.end + 1).join('')).toBe(text(...numbered.slice(9)))
      }),
    )
  })
})
