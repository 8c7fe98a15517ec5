import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { keyMark, registerKey } from './known-keys.ts'
import { maskError } from './masked-error.ts'

const key = `made-error-${'X0'.repeat(12)}`
registerKey(key)

it.each([
  ['its words', new Error(`wrong key ${key}`)],
  ['its cause', new Error('failed', { cause: new TypeError(key) })],
  ['what hangs on it', Object.assign(new Error('failed'), { request: { headers: { 'x-api-key': key } } })],
  ['what it is, being no error', { headers: [key] }],
  ['what it says, being a text', `wrong key ${key}`],
])('takes a key out of %s', (_, thrown) => {
  const masked = maskError(thrown)
  expect(inspect(masked, { depth: 20 })).not.toContain(key)
})

it('keeps what an error is and where it came from', () => {
  const thrown = Object.assign(new RangeError(`not ${key}`), { code: 'ERR_MADE', body: key })
  const masked = maskError(thrown)
  expect(masked).toMatchObject({ name: 'RangeError', message: `not ${keyMark}`, code: 'ERR_MADE' })
  expect(masked).toHaveProperty('stack', expect.stringContaining('masked-error.test.ts'))
})

it('leaves alone what holds no key', () => {
  const thrown = new Error('plain')
  expect(maskError(thrown)).toBe(thrown)
})
