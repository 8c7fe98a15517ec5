import { describe, expect, it } from 'vitest'
import { keyMark, registerKey } from '../../system/secrets/known-keys.ts'
import { maskSecrets } from './message.ts'

const key = `made-mask-${'X0'.repeat(12)}`
registerKey(key)

/** Returns the JSON parser's own message in this version of Node. */
function parserWords(text: string): string {
  try {
    return JSON.parse(text)
  } catch (error) {
    return String(error)
  }
}

describe('maskSecrets', () => {
  it.each([`{"choices": ${key}`, key, `["${key}", nothing]`])(
    'removes parts of a key that a JSON parser quotes of %s',
    (text) => {
      const masked = maskSecrets(parserWords(text))
      expect(masked).toMatch(/^SyntaxError: Unexpected token .* is not valid JSON$/)
      expect(masked).not.toMatch(/made-m|X0X0/)
    },
  )

  it('masks every registered key', () => {
    registerKey('gsk-3f9a-registered-0001')
    expect(maskSecrets('one gsk-3f9a-registered-0001, another ?key=gsk-3f9a-registered-0001')).toBe(
      `one ${keyMark}, another ?key=${keyMark}`,
    )
  })

  it('keeps normal words if a key is a word', () => {
    registerKey('test')
    expect(maskSecrets('the model lm-studio/test is not loaded; Bearer test')).toBe(
      `the model lm-studio/test is not loaded; Bearer ${keyMark}`,
    )
  })

  it.each([
    ['Incorrect key sk-proj-abcdefgh1234.', `Incorrect key ${keyMark}.`],
    ['authorization: Bearer abcdefgh12345678', `authorization: Bearer ${keyMark}`],
    ['"x-api-key": "abcdefgh12345678"', `"x-api-key": "${keyMark}"`],
    ['POST https://a.test/v1?key=AIzaSy123&alt=sse', `POST https://a.test/v1?key=${keyMark}&alt=sse`],
    ['no URL http://me:hunter2@a.test/v1', `no URL http://${keyMark}@a.test/v1`],
  ])('masks text that looks like a key: %s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked)
  })

  // An unbounded lookbehind would make this quadratic.
  it('is fast on a page of spaces', () => {
    const text = `bearer${' '.repeat(300_000)}page`
    expect(maskSecrets(text)).toBe(text)
  })

  it('changes nothing without a key', () => {
    const text = 'messages.3: mail me@a.test about http://a.test/v1 and the sk of risk-averse people'
    expect(maskSecrets(text)).toBe(text)
  })
})
