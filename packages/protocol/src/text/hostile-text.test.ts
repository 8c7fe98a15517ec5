import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeHidden, escapeHiddenInJson, escapeLine } from './hostile-text.ts'

describe('hostile text', () => {
  it.each([
    ['an escape sequence', '\u001b[31mred', '\\u{1b}[31mred'],
    ['a carriage return that overwrites a line', 'rm -rf /\rls', 'rm -rf /\\u{d}ls'],
    ['a backspace', 'a\bb', 'a\\u{8}b'],
    ['an eight-bit control', 'a\u009bb', 'a\\u{9b}b'],
    ['a right-to-left override', 'a\u202eb', 'a\\u{202e}b'],
    ['an isolate', 'a\u2066b', 'a\\u{2066}b'],
    ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
    ['a byte-order mark', '\ufeffa', '\\u{feff}a'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a deprecated format mark', 'a\u206ab', 'a\\u{206a}b'],
    ['a message in invisible tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ])('escapes %s', (_, hostile, shown) => {
    expect(escapeHidden(hostile)).toBe(shown)
  })

  it('leaves line feeds, tabs and letters unchanged', () => {
    const text = 'Straße\n\t東京 العربية 😀 {}'
    expect(escapeHidden(text)).toBe(text)
  })

  it('escapes line feeds in a single line', () => {
    expect(escapeLine('a\nb\tc')).toBe('a\\nb\\tc')
  })

  it('leaves nothing hidden after one pass', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeHidden(escapeHidden(text))).toBe(escapeHidden(text))
      }),
    )
  })

  it('escapes the same characters in JSON without changing its value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = escapeHiddenInJson(JSON.stringify(text))
        expect(escapeHidden(json)).toBe(json)
        expect(JSON.parse(json)).toBe(text)
      }),
    )
  })
})
