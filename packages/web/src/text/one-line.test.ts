import { expect, it } from 'vitest'
import { oneLine } from './one-line.ts'

it('turns line breaks into spaces and escapes hidden characters', () => {
  expect(oneLine(' run ls\n\n\tand\u202e go ')).toBe('run ls and\\u{202e} go')
})
