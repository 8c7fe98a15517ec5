import { expect, it } from 'vitest'
import { durationText } from './duration-text.ts'

it.each([
  [0, '0 ms'],
  [419.6, '420 ms'],
  [1240, '1.2 s'],
  [12_900, '12 s'],
  [125_000, '2 min 5 s'],
])('formats %d ms as %s', (ms, said) => {
  expect(durationText(ms)).toBe(said)
})
