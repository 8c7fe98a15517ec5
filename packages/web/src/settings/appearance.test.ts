import { expect, it } from 'vitest'
import { parseAppearance } from './appearance.ts'

it('reads an appearance, and takes the default for what is missing or unknown', () => {
  const first = { theme: 'system', density: 'comfortable', diagrams: 'source' }
  const unknown = '{"theme":"pink","density":7,"diagrams":true}'
  expect([null, 'not JSON', '[]', unknown].map(parseAppearance)).toEqual(Array(4).fill(first))
  const chosen = { theme: 'dark', density: 'compact', diagrams: 'show' }
  expect(parseAppearance(JSON.stringify(chosen))).toEqual(chosen)
})
