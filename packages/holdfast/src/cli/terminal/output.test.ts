import fc from 'fast-check'
import { expect, it } from 'vitest'
import { colourOf, toJsonText } from './output.ts'

it('writes JSON without loss', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(toJsonText(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

it('escapes control and invisible characters in JSON', () => {
  const hostile =
    '\u001b]52;c;eA==\u0007 \u009b2J \u202egnp.exe \u2066 \u200b \ufeff \u007f \u180e \u206a \ufff9 \u{e0041}'
  const text = toJsonText({ hostile })
  expect(text).toMatch(/^[\x20-\x7e]+$/)
  expect(JSON.parse(text)).toEqual({ hostile })
})

it.each([
  [{}, 'at a terminal'],
  [{ NO_COLOR: '1' }, 'never'],
  [{ NO_COLOR: '' }, 'at a terminal'],
  [{ FORCE_COLOR: '1' }, 'always'],
  [{ FORCE_COLOR: '0' }, 'never'],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, 'always'],
] as const)('colours with %j: %s', (environment, colour) => {
  expect(colourOf(environment)).toBe(colour)
})
