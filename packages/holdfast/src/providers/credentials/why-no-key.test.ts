import { expect, it } from 'vitest'
import { whyNoKey } from './why-no-key.ts'

const key = `made-X0X0${'X0'.repeat(8)}`

it.each([
  ['', 'empty'],
  [`"${key}"`, 'quotes'],
  [`'${key}'`, 'quotes'],
  [`OPENAI_API_KEY=${key}`, 'assignment'],
  [`export OPENAI_API_KEY=${key}`, 'assignment'],
  ['https://example.org/keys', 'address'],
  [`${key} ${key}`, 'blank'],
  [`${key}\u200b`, 'characters'],
  ['ключ', 'characters'],
  ['x'.repeat(5000), 'too long'],
])('says what is wrong with %j without saying it back', (text, word) => {
  expect(whyNoKey(text)).toContain(word)
  expect(whyNoKey(text)).not.toContain('X0X0')
})

it.each([key, 'ollama', `A=`, `${key}==`])('lets %j pass', (text) => {
  expect(whyNoKey(text)).toBeNull()
})
