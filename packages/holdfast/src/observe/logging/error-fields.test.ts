import { describe, expect, it } from 'vitest'
import { errorFields } from './error-fields.ts'

describe('an error in the log', () => {
  it('is what it says, where and why, and nothing that hangs on it', () => {
    const cause = Object.assign(new TypeError('no route'), { code: 'ECONNREFUSED' })
    const error = Object.assign(new Error('failed', { cause }), {
      requestBody: 'all that was said',
      headers: { cookie: 'x' },
    })
    expect(errorFields(error)).toEqual({
      type: 'Error',
      message: 'failed',
      stack: expect.stringContaining('error-fields.test.ts'),
      cause: { type: 'TypeError', message: 'no route', code: 'ECONNREFUSED', stack: expect.any(String) },
    })
  })

  it('that is caused by itself ends somewhere', () => {
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
  ])('may be anything: %j', (thrown, fields) => {
    expect(errorFields(thrown)).toEqual(fields)
  })
})
