import { execFileSync } from 'node:child_process'
import fs, { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invariant } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { registerKey } from '../../system/secrets/known-keys.ts'
import type { LogLevel } from './logger.ts'
import { openLogger } from './open-logger.ts'

const key = 'sk-open-log-0123456789abcdef'

describe('a log', () => {
  let folder = ''
  let file = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hf-log-'))
    file = join(folder, 'holdfast.log')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const open = async (level: LogLevel = 'info') => {
    const opened = await openLogger({ level, file, onLost: (message) => expect(message).toBeUndefined() })
    invariant(opened.ok, 'the log opens')
    return opened.value
  }
  const text = () => readFileSync(file, 'utf8')
  const lines = () =>
    text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  it('is one JSON object per line', async () => {
    const { logger, close } = await open()
    logger.info({ session: 'ses_1' }, 'hello')
    logger.debug({}, 'too much')
    await close()
    expect(lines()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), pid: process.pid, session: 'ses_1', msg: 'hello' },
    ])
  })

  it('is written without blocking, and completely before it closes', async () => {
    const writeSync = vi.spyOn(fs, 'writeSync')
    const { logger, close } = await open()
    for (let index = 0; index < 1000; index++) logger.info({ index }, 'hello')
    await close()
    expect(lines().map(({ index }) => index)).toEqual(Array.from({ length: 1000 }, (_, index) => index))
    expect(writeSync).not.toHaveBeenCalled()
    writeSync.mockRestore()
  })

  it('is readable by its owner only, and appends to an existing file', async () => {
    writeFileSync(file, '{"msg":"before"}\n')
    chmodSync(file, 0o644)
    const { logger, close } = await open()
    logger.warn({}, 'after')
    await close()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(lines().map(({ msg }) => msg)).toEqual(['before', 'after'])
  })

  it('writes hostile text as one line of valid JSON with hidden characters escaped', async () => {
    const hostile = 'a\n{"level":"fake"}\r\u001b[2J\u009b31m\u2028\u202e\u{e0041}\ud800"\\'
    const { logger, close } = await open()
    logger.info({ text: hostile }, hostile)
    await close()
    expect(text().match(/\n/g)).toHaveLength(1)
    expect(text()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e\u{e0041}]/u)
    expect(lines()).toMatchObject([{ text: hostile, msg: hostile }])
  })

  it('contains no secret header and no known key', async () => {
    registerKey(key)
    const { logger, close } = await open()
    const headers = {
      authorization: 'Bearer abc',
      cookie: 'c=abc',
      'x-api-key': 'abc',
      'set-cookie': 'abc',
      accept: 'all',
    }
    logger.info({ headers, req: { headers }, err: new Error(`wrong key ${key}`) }, `sent ${key}`)
    await close()
    expect(text()).not.toContain('abc')
    expect(text()).not.toContain(key)
    expect(lines()).toMatchObject([{ headers: { accept: 'all', authorization: '[redacted]' }, err: { type: 'Error' } }])
  })

  it('logs message and stack of an error, but no attached request', async () => {
    const { logger, close } = await open()
    logger.error({ err: Object.assign(new Error('boom'), { requestBody: 'all that was said' }) }, 'problem')
    await close()
    expect(text()).not.toContain('all that was said')
    expect(lines()[0].err).toMatchObject({ message: 'boom', stack: expect.stringContaining('open-logger.test.ts') })
  })

  it('drops lines after it was closed', async () => {
    const { logger, close } = await open()
    await close()
    expect(() => logger.info({}, 'late')).not.toThrow()
    expect(text()).toBe('')
  })

  it('is refused if its file cannot be opened', async () => {
    const opened = await openLogger({ level: 'info', file: join(folder, 'none', 'x.log'), onLost: () => undefined })
    expect(opened).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', message: expect.stringContaining('HOLDFAST_LOG_FILE') },
    })
  })

  it('refuses a pipe without a reader instead of blocking', async () => {
    execFileSync('mkfifo', [file])
    const opened = await openLogger({ level: 'info', file, onLost: () => undefined })
    expect(opened).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
  })

  it.runIf(process.platform === 'linux')('reports lost lines once when the disk is full', async () => {
    const messages: string[] = []
    const opened = await openLogger({ level: 'info', file: '/dev/full', onLost: (message) => messages.push(message) })
    invariant(opened.ok, 'the device opens')
    opened.value.logger.info({}, 'one')
    await expect.poll(() => messages).toHaveLength(1)
    opened.value.logger.info({}, 'two') // and is tried again: a disk may have room by now
    await opened.value.close()
    expect(messages).toEqual([expect.stringContaining('ENOSPC')])
  })
})
