import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { createMaskedLogger } from './masked-logger.ts'
import { createKeptLogger } from './testing/memory-logger.ts'

const key = 'sk-masked-log-0123456789abcdef'

describe('the log of a program', () => {
  it('gets no key that we know, however deep it lies', () => {
    registerKey(key)
    const { logger, lines } = createKeptLogger()
    createMaskedLogger(logger).warn({ err: { message: key, all: [{ stack: `at ${key}` }] }, ms: 3 }, `no ${key}`)
    expect(JSON.stringify(lines)).not.toContain(key)
    expect(lines).toMatchObject([{ level: 'warn', fields: { ms: 3 } }])
  })

  it('that throws is a warning, and harms nobody', async () => {
    const broken = () => {
      throw new Error('the disk of the log')
    }
    const logger = createMaskedLogger({ error: broken, warn: broken, info: broken, debug: broken, trace: broken })
    const warned = once(process, 'warning')
    expect(() => logger.info({}, 'hello')).not.toThrow()
    expect((await warned)[0]).toMatchObject({ name: 'HoldfastProblem', message: expect.stringContaining('the disk') })
  })

  it('says which levels it wants', () => {
    expect(createMaskedLogger(createKeptLogger('info').logger).isLevelEnabled?.('debug')).toBe(false)
  })
})
