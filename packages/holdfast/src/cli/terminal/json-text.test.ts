import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toJsonText } from './json-text.ts'

it('loses nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(toJsonText(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

it('holds nothing that a terminal obeys or an eye cannot see', () => {
  const hostile =
    '\u001b]52;c;eA==\u0007 \u009b2J \u202egnp.exe \u2066 \u200b \ufeff \u007f \u180e \u206a \ufff9 \u{e0041}'
  const text = toJsonText({ hostile })
  expect(text).toMatch(/^[\x20-\x7e]+$/)
  expect(JSON.parse(text)).toEqual({ hostile })
})
