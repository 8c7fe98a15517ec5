import { describe, expect, it } from 'vitest'
import { loadSessionSpans } from './load-session-spans.ts'

const notInstalled = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /app/session-spans.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  })

describe('loading the session spans', () => {
  it('returns an observer when @opentelemetry/api is installed', async () => {
    expect(await loadSessionSpans()).toMatchObject({ recorded: expect.any(Function) })
  })

  it('turns tracing off when @opentelemetry/api is not installed', async () => {
    expect(await loadSessionSpans(() => Promise.reject(notInstalled('@opentelemetry/api')))).toBeNull()
  })

  it.each([
    ['another package is missing', notInstalled('@opentelemetry/sdk')],
    ['a module throws', new Error('boom')],
  ])('rejects when %s', async (_, error) => {
    await expect(loadSessionSpans(() => Promise.reject(error))).rejects.toBe(error)
  })
})
