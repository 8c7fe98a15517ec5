import { describe, expect, it } from 'vitest'
import { errorFields } from './problems.ts'

describe('an error in the log', () => {
  it('keeps type, message, stack, code and cause, and no other property', () => {
    const cause = Object.assign(new TypeError('no route'), { code: 'ECONNREFUSED' })
    const error = Object.assign(new Error('failed', { cause }), {
      requestBody: 'the whole request',
      headers: { cookie: 'x' },
    })
    expect(errorFields(error)).toEqual({
      type: 'Error',
      message: 'failed',
      stack: expect.stringContaining('problems.test.ts'),
      cause: { type: 'TypeError', message: 'no route', code: 'ECONNREFUSED', stack: expect.any(String) },
    })
  })

  it('is cut when its cause is itself', () => {
    const error = new Error('round')
    error.cause = error
    expect(JSON.stringify(errorFields(error)).length).toBeLessThan(20_000)
  })

  it.each([
    ['boom', { type: 'string', message: 'boom' }],
    [undefined, { type: 'undefined', message: 'undefined' }],
    [
      { code: 'storage_error', message: 'full' },
      { type: 'object', message: 'full', code: 'storage_error' },
    ],
  ])('may be any thrown value: %j', (thrown, fields) => {
    expect(errorFields(thrown)).toEqual(fields)
  })
})
