import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitContent, splitText } from './split-text.ts'

it('loses nothing of any text but blank pieces, and cuts no character in two', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b\n', '\u{1f422}'), minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (given, charsMax) => {
      const pieces = splitText(given, charsMax)
      const inked = (text: string) => text.replaceAll('\n', '')
      expect(inked(pieces.join(''))).toBe(inked(given))
      for (const piece of pieces) expect([piece.length <= charsMax, piece.isWellFormed()]).toEqual([true, true])
    }),
  )
})

it('keeps short parts together', () => {
  const part = (text: string) => ({ type: 'text', text }) as const
  expect(splitContent([part('abc'), part('de'), part('fghijkl')], 5)).toEqual([
    [part('abc'), part('de')],
    [part('fghij')],
    [part('kl')],
  ])
})
