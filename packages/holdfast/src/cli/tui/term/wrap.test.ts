import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellWidth, cutCells } from './cell-width.ts'
import { cutLine, line, lineWidth, shownText, span, styles, toAnsi } from './lines.ts'
import { wrapLine } from './wrap.ts'

describe('width', () => {
  it.each([
    ['plain', 5],
    ['日本', 4],
    ['👍', 2],
    ['❤️', 2],
    ['🇩🇪', 2],
    ['e\u0301', 1],
    ['é', 1],
  ])('%s takes %d columns', (text, width) => {
    expect(cellWidth(text)).toBe(width)
  })

  it('never cuts a character in two', () => {
    expect(cutCells('a日本', 2)).toBe('a')
    expect(cutCells('a日本', 3)).toBe('a日')
  })
})

describe('wrapping', () => {
  const textOf = (rows: ReturnType<typeof wrapLine>) => rows.map((row) => row.map(({ text }) => text).join(''))

  it('breaks at words, and long words anywhere', () => {
    expect(textOf(wrapLine(line('the quick brown fox'), 10))).toEqual(['the quick ', 'brown fox'])
    expect(textOf(wrapLine(line('abcdefghij'), 4))).toEqual(['abcd', 'efgh', 'ij'])
    expect(textOf(wrapLine(line('one two three'), 8, [span('  ')]))).toEqual(['one two ', '  three'])
  })

  it('keeps every character but spaces, in rows that fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const shown = shownText(text).replaceAll('\n', ' ')
        const rows = wrapLine(line(shown), width)
        for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(width)
        expect(textOf(rows).join('').replaceAll(' ', '')).toBe(shown.replaceAll(' ', ''))
      }),
    )
  })
})

describe('a line', () => {
  it('is cut with a mark', () => {
    expect(toAnsi(cutLine(line('abcdef'), 4), false)).toContain('abc')
    expect(lineWidth(cutLine(line('日本語日本語'), 5))).toBeLessThanOrEqual(5)
  })

  it('has no colour without colours, but keeps bold', () => {
    expect(toAnsi([span('a', `${styles.bold};${styles.bad}`)], false)).toBe('\u001b[1ma\u001b[0m')
    expect(toAnsi([span('a', styles.bad)], false)).toBe('a')
  })

  it('shows control characters as escapes', () => {
    expect(shownText('a\u001b]0;x\u0007\u202eb\tc')).toBe('a\\u{1b}]0;x\\u{7}\\u{202e}b    c')
  })
})
