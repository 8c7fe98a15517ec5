import { createAnthropic } from '@ai-sdk/anthropic'
import { LoadAPIKeyError } from '@ai-sdk/provider'
import type { ModelPart } from '@holdfast/core/ports'
import { type AnthropicAnswer, aRequest, startAnthropicServer } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { keyMark } from '../../system/secrets/known-keys.ts'
import { createAiSdkProvider } from '../ai-sdk/provider.ts'
import { endFailed } from './failure.ts'

const key = 'sk-ant-secret-0123456789'
const options = { title: 'anthropic', keyName: 'ANTHROPIC_API_KEY' }
const service = { title: 'Anthropic', modelId: 'claude', keyName: 'ANTHROPIC_API_KEY' }
const now = Date.parse('2026-11-15T12:00:00Z')

async function failureAt(url: string) {
  const model = createAnthropic({ apiKey: key, baseURL: `${url}/v1` })('claude-sonnet-4-5')
  const clock = { now: () => now, after: () => () => undefined }
  const parts: ModelPart[] = []
  const { signal } = new AbortController()
  for await (const part of createAiSdkProvider(model, { ...options, clock }).stream(aRequest(), { signal }))
    parts.push(part)
  const [only] = parts
  if (parts.length !== 1 || only?.type !== 'end' || only.end.type !== 'failed') throw new Error('not a plain failure')
  return only.end
}

async function failureOn(answer: AnthropicAnswer) {
  await using server = await startAnthropicServer(answer)
  return await failureAt(server.url)
}

const error = (status: number, message: string, headers = {}): AnthropicAnswer => ({
  type: 'error',
  status,
  message,
  headers,
})

describe('a failed call', () => {
  it.each([
    [401, 'rejected_key', false, 'Anthropic rejected the key (HTTP 401). Check ANTHROPIC_API_KEY, then continue.'],
    [
      402,
      'passthrough',
      false,
      'The account at Anthropic has no credit left (HTTP 402). Add credit there or choose another model, then continue.',
    ],
    [
      403,
      'auth_failed',
      false,
      'Anthropic does not allow this key to use claude-sonnet-4-5 (HTTP 403): why not. Use a key with access or another model, then continue.',
    ],
    [
      404,
      'passthrough',
      false,
      'Anthropic has no model claude-sonnet-4-5 (HTTP 404): why not. Choose another model, then continue.',
    ],
    [
      413,
      'passthrough',
      false,
      'The conversation is too long for claude-sonnet-4-5 (HTTP 413). Compact it, then continue.',
    ],
    [429, 'rate_limited', true, 'Anthropic limits the rate of requests (HTTP 429). Wait a little, then continue.'],
    [
      503,
      'passthrough',
      true,
      'Anthropic is overloaded (HTTP 503). Wait a little or choose another model, then continue.',
    ],
    [
      529,
      'rate_limited',
      true,
      'Anthropic is overloaded (HTTP 529). Wait a little or choose another model, then continue.',
    ],
    [
      400,
      'passthrough',
      false,
      'Anthropic refused the request (HTTP 400): why not. Change the request or the model, then continue.',
    ],
    [
      408,
      'passthrough',
      false,
      'Anthropic refused the request (HTTP 408): why not. Change the request or the model, then continue.',
    ],
    [500, 'passthrough', true, 'Anthropic failed (HTTP 500): why not. Continue to try again.'],
  ])('with status %i is %s', async (status, kind, retryable, message) => {
    const failed = await failureOn(error(status, 'why not'))
    expect(failed).toMatchObject({ fault: { kind, message }, retryable, retryAfterMs: null })
    expect(failed.fault.detail).toContain(`HTTP ${status}`)
  })

  it('with an HTML page is a raw dump, with the page in the detail', async () => {
    const failed = await failureOn({ type: 'page', status: 502, body: '<html>bad gateway</html>' })
    expect(failed).toMatchObject({
      fault: {
        kind: 'raw_dump',
        message: 'Anthropic failed without a clear reason (HTTP 502). Continue to try again; the log has what it sent.',
        detail: expect.stringContaining('<html>'),
      },
      retryable: true,
    })
  })

  it('has the service’s request id in the detail', async () => {
    const { fault } = await failureOn(error(500, 'broken', { 'request-id': 'req_011', 'cf-ray': 'abc-FRA' }))
    expect(fault.detail).toContain('request-id: req_011')
    const { fault: other } = await failureOn(error(500, 'broken', { 'cf-ray': 'abc-FRA' }))
    expect(other.detail).toContain('cf-ray: abc-FRA')
  })

  it('is unreachable if the connection is dropped or refused', async () => {
    expect(await failureOn({ type: 'drop' })).toMatchObject({ fault: { kind: 'unreachable' }, retryable: true })
    const server = await startAnthropicServer()
    await server.close()
    expect(await failureAt(server.url)).toMatchObject({ fault: { kind: 'unreachable' }, retryable: true })
  })

  it('is unreachable if the stream breaks before its first event', async () => {
    const answer: AnthropicAnswer = { type: 'message', content: [], after: { events: 0, detour: { type: 'cut' } } }
    expect(await failureOn(answer)).toMatchObject({ fault: { kind: 'unreachable' }, retryable: true })
  })

  it('keeps its kind as the first event of a stream', async () => {
    const detour = { type: 'error', error: 'overloaded_error', message: 'Overloaded' } as const
    const answer: AnthropicAnswer = { type: 'message', content: [], after: { events: 0, detour } }
    expect(await failureOn(answer)).toMatchObject({ fault: { kind: 'rate_limited' }, retryable: true })
  })

  it.each([
    ['7', 7_000],
    ['0.5', 500],
    ['Sun, 15 Nov 2026 12:00:30 GMT', 30_000],
    ['Sun, 15 Nov 2026 11:00:00 GMT', 0],
    ['9'.repeat(400), 7 * 24 * 3_600_000],
    ['soon', null],
    ['-3', null],
  ])('reads Retry-After: %s', async (value, ms) => {
    expect((await failureOn(error(429, 'slow down', { 'retry-after': value }))).retryAfterMs).toBe(ms)
  })

  it('shows no key in message and detail', async () => {
    const { fault } = await failureOn(error(400, `bad key ${key} and Bearer abcdefgh12345678`))
    expect(JSON.stringify(fault)).not.toMatch(/secret|abcdefgh/)
    expect(fault.message).toContain(keyMark)
  })

  it('shows no part of a key at the end of a quotation', async () => {
    const { fault } = await failureOn(error(400, `${'x '.repeat(144)}${key}`))
    expect(fault.message).not.toContain('sk-')
  })

  it('limits the quoted text', async () => {
    const { fault } = await failureOn(error(400, 'x'.repeat(100_000)))
    expect(fault.message.length).toBeLessThan(500)
    expect(fault.detail?.length).toBeLessThanOrEqual(4_000)
  })

  it('without a key is auth_failed', () => {
    const missing = new LoadAPIKeyError({ message: 'API key is missing' })
    expect(endFailed(missing, { service, now })).toMatchObject({
      fault: {
        kind: 'auth_failed',
        message: 'There is no usable key for Anthropic. Set ANTHROPIC_API_KEY, then continue.',
      },
      retryable: false,
    })
  })

  it.each([
    [undefined],
    [null],
    ['just words'],
    [{}],
    [new Error('')],
    [Object.assign(new Error('x'), { cause: null })],
  ])('has a message for any thrown value (%s)', (thrown) => {
    expect(endFailed(thrown, { service, now }).fault.message).toMatch(/^Anthropic .*\.$/)
  })
})
