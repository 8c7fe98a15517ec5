import { expect, it } from 'vitest'
import { parseAppearance } from './appearance.ts'

it('reads an appearance, and takes the default for what is missing or unknown', () => {
  const first = { theme: 'system', density: 'comfortable' }
  expect([null, 'not JSON', '[]', '{"theme":"pink","density":7}'].map(parseAppearance)).toEqual(Array(4).fill(first))
  expect(parseAppearance('{"theme":"dark","density":"compact"}')).toEqual({ theme: 'dark', density: 'compact' })
})
