import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { createMaskedLogger, logSettingOf } from './logger.ts'
import { createKeptLogger } from './testing/memory-logger.ts'

describe('HOLDFAST_LOG', () => {
  it.each(['off', 'error', 'warn', 'info', 'debug', 'trace'])('accepts %s', (value) => {
    expect(logSettingOf({ HOLDFAST_LOG: value }, 'warn')).toEqual({ ok: true, value })
  })

  it.each([undefined, ''])('uses the default when it is %j', (value) => {
    expect(logSettingOf({ HOLDFAST_LOG: value }, 'warn')).toEqual({ ok: true, value: 'warn' })
  })

  it.each([
    ['wran', "Did you mean 'warn'?"],
    ['INFO', 'off, error, warn, info, debug, trace'],
    ['\u001b[2Jx', '\\u{1b}[2Jx'],
  ])('refuses %j and lists the valid levels', (value, words) => {
    const refused = logSettingOf({ HOLDFAST_LOG: value }, 'off')
    expect(refused).toMatchObject({
      ok: false,
      fault: { code: 'bad_request', message: expect.stringContaining(words) },
    })
  })
})

const key = 'sk-masked-log-0123456789abcdef'

describe('a masked logger', () => {
  it('masks known keys at any depth', () => {
    registerKey(key)
    const { logger, lines } = createKeptLogger()
    createMaskedLogger(logger).warn({ err: { message: key, all: [{ stack: `at ${key}` }] }, ms: 3 }, `no ${key}`)
    expect(JSON.stringify(lines)).not.toContain(key)
    expect(lines).toMatchObject([{ level: 'warn', fields: { ms: 3 } }])
  })

  it('turns an error of the logger into a process warning', async () => {
    const broken = () => {
      throw new Error('the disk of the log')
    }
    const logger = createMaskedLogger({ error: broken, warn: broken, info: broken, debug: broken, trace: broken })
    const warned = once(process, 'warning')
    expect(() => logger.info({}, 'hello')).not.toThrow()
    expect((await warned)[0]).toMatchObject({ name: 'HoldfastProblem', message: expect.stringContaining('the disk') })
  })

  it('reports the levels of the wrapped logger', () => {
    expect(createMaskedLogger(createKeptLogger('info').logger).isLevelEnabled?.('debug')).toBe(false)
  })
})
