import { describe, expect, it } from 'vitest'
import { logSettingOf } from './logger.ts'

describe('HOLDFAST_LOG', () => {
  it.each(['off', 'error', 'warn', 'info', 'debug', 'trace'])('may be %s', (value) => {
    expect(logSettingOf({ HOLDFAST_LOG: value }, 'warn')).toEqual({ ok: true, value })
  })

  it.each([undefined, ''])('is what the command takes by default when it is %j', (value) => {
    expect(logSettingOf({ HOLDFAST_LOG: value }, 'warn')).toEqual({ ok: true, value: 'warn' })
  })

  it.each([
    ['wran', "Did you mean 'warn'?"],
    ['INFO', 'off, error, warn, info, debug, trace'],
    ['\u001b[2Jx', '\\u{1b}[2Jx'],
  ])('is refused when it is %j, naming the right ones', (value, words) => {
    const refused = logSettingOf({ HOLDFAST_LOG: value }, 'off')
    expect(refused).toMatchObject({
      ok: false,
      fault: { code: 'bad_request', message: expect.stringContaining(words) },
    })
  })
})
