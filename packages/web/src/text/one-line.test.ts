import { expect, it } from 'vitest'
import { oneLine } from './one-line.ts'

it('turns breaks into spaces and spells out what is hidden', () => {
  expect(oneLine(' run ls\n\n\tand\u202e go ')).toBe('run ls and\\u{202e} go')
})
