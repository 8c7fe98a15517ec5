import { expect, it } from 'vitest'
import { outputText } from './output-text.ts'

it('removes colours and normalizes line ends', () => {
  expect(outputText('\u001b[31mred\u001b[0m\r\nplain')).toBe('red\nplain')
})

it('escapes other control sequences', () => {
  expect(outputText('\u001b[2Jgone\rover')).toBe('\\u{1b}[2Jgone\\u{d}over')
})
