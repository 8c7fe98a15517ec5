import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import type { AiSdkModel } from '../ai-sdk/open-stream.ts'
import { createAiSdkProvider } from '../ai-sdk/provider.ts'
import { collectFailure, startFixedServer } from '../ai-sdk/testing/http-server.ts'

const anthropic = (baseURL: string) => createAnthropic({ apiKey: 'key', baseURL })('model-x')
const openAi = (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL }).responses('model-x')
const google = (baseURL: string) => createGoogle({ apiKey: 'key', baseURL })('model-x')
const compatible = (baseURL: string) => createOpenAICompatible({ name: 'vllm', baseURL })('model-x')

const now = Date.parse('2026-11-15T12:00:00Z')
const clock = { now: () => now, after: () => () => undefined }

async function failureOn(model: (baseURL: string) => AiSdkModel, status: number, body: unknown, headers = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  await using server = await startFixedServer(status, text, { 'content-type': 'application/json', ...headers })
  return (await collectFailure(createAiSdkProvider(model(server.url), { title: 'Service', clock }))).end
}

const openAiError = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
})
const googleError = (code: number, status: string, details: readonly object[] = []) => ({
  error: { code, message: 'Words.', status, details },
})
const reason = (reason: string) => [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }]

describe('an error of a service', () => {
  it.each<readonly [string, (baseURL: string) => AiSdkModel, number, unknown, RegExp, string]>([
    [
      'OpenAI: unknown model',
      openAi,
      404,
      openAiError('No such model.', { code: 'model_not_found' }),
      /^Service has no model model-x \(HTTP 404\): No such model\. Choose another/,
      'passthrough',
    ],
    [
      'OpenAI: unknown path',
      openAi,
      404,
      openAiError('Invalid URL (POST /responses)'),
      /^The server at .*\/responses is not the API of Service \(HTTP 404\)/,
      'raw_dump',
    ],
    [
      'OpenAI: no access to a model that there is',
      openAi,
      403,
      openAiError('Not yours.', { code: 'model_not_found' }),
      /^Service does not allow this key to use model-x \(HTTP 403\): Not yours\./,
      'auth_failed',
    ],
    [
      'OpenAI: no credit left',
      openAi,
      429,
      openAiError('Quota.', { type: 'insufficient_quota', code: 'insufficient_quota' }),
      /^The account at Service has no credit left \(HTTP 429\)/,
      'rate_limited',
    ],
    [
      'OpenAI: too long',
      openAi,
      400,
      openAiError('Words.', { code: 'context_length_exceeded', param: 'input' }),
      /^The conversation is too long for model-x \(HTTP 400\)\. Compact it, then continue\.$/,
      'passthrough',
    ],
    [
      'OpenAI: the rule that was broken, by its field',
      openAi,
      400,
      openAiError('String too long.', { code: 'string_above_max_length', param: 'input[3].content' }),
      /^Service refused the request \(HTTP 400\) at input\[3\]\.content: String too long\. Change/,
      'passthrough',
    ],
    [
      'Anthropic: no credit left',
      anthropic,
      400,
      { type: 'error', error: { type: 'billing_error', message: 'Words.' } },
      /^The account at Service has no credit left/,
      'passthrough',
    ],
    [
      'Google: a key that is none, though it says 400',
      google,
      400,
      googleError(400, 'INVALID_ARGUMENT', reason('API_KEY_INVALID')),
      /^Service rejected the key \(HTTP 400\)\. Check the key of Service, then continue\.$/,
      'rejected_key',
    ],
    [
      'Google: unknown model',
      google,
      404,
      googleError(404, 'NOT_FOUND'),
      /^Service has no model model-x \(HTTP 404\): Words\./,
      'passthrough',
    ],
    [
      'Google: the field that broke a rule',
      google,
      400,
      googleError(400, 'INVALID_ARGUMENT', [{ fieldViolations: [{ field: 'contents[2].parts[0]' }] }]),
      /^Service refused the request \(HTTP 400\) at contents\[2\]\.parts\[0\]: Words\./,
      'passthrough',
    ],
    [
      'vLLM: unknown model, its error on top',
      compatible,
      404,
      { object: 'error', message: 'Words.', type: 'NotFoundError', param: null, code: 404 },
      /^Service has no model model-x/,
      'passthrough',
    ],
    [
      'Ollama: unknown model',
      compatible,
      404,
      { error: { message: 'model "x" not found', type: 'not_found_error', param: null, code: null } },
      /^Service has no model model-x/,
      'passthrough',
    ],
    [
      'Mistral: unknown model, though it says 400',
      compatible,
      400,
      { object: 'error', message: 'Words.', type: 'invalid_model', param: null, code: '1500' },
      /^Service has no model model-x \(HTTP 400\)/,
      'passthrough',
    ],
    [
      'Mistral: the field that broke a rule',
      compatible,
      422,
      { object: 'error', message: { detail: [{ loc: ['body', 'messages', 2], msg: 'Words.', type: 'value_error' }] } },
      /^Service refused the request \(HTTP 422\) at messages\.2: Words\./,
      'passthrough',
    ],
    [
      'a server with nothing but words',
      compatible,
      400,
      { error: 'Only words.' },
      /^Service refused the request \(HTTP 400\): Only words\. Change/,
      'passthrough',
    ],
    [
      'llama.cpp: too long',
      compatible,
      400,
      { error: { code: 400, message: 'Words.', type: 'exceed_context_size_error', n_prompt_tokens: 9, n_ctx: 5 } },
      /^The conversation is too long for model-x/,
      'passthrough',
    ],
    [
      'OpenRouter: no credit left',
      compatible,
      402,
      { error: { message: 'Words.', code: 402 } },
      /^The account at Service has no credit left/,
      'passthrough',
    ],
  ])('is classified by its fields: %s', async (_what, model, status, body, message, kind) => {
    expect(await failureOn(model, status, body)).toMatchObject({
      fault: { kind, message: expect.stringMatching(message) },
      retryable: false,
    })
  })

  it('is not classified by its message', async () => {
    const words = 'rate limit: insufficient_quota, context_length_exceeded, model_not_found, 401 invalid api key'
    expect(await failureOn(compatible, 400, openAiError(words))).toMatchObject({
      fault: {
        kind: 'passthrough',
        message: `Service refused the request (HTTP 400): ${words}. Change the request or the model, then continue.`,
      },
      retryable: false,
    })
  })
})

describe('the wait before a retry', () => {
  it.each<readonly [string, (baseURL: string) => AiSdkModel, unknown, { [name: string]: string }, number | null]>([
    ['milliseconds', openAi, openAiError('Slow.'), { 'retry-after-ms': '1250', 'retry-after': '9' }, 1_250],
    ['seconds', openAi, openAiError('Slow.'), { 'retry-after': '9' }, 9_000],
    ['a date', openAi, openAiError('Slow.'), { 'retry-after': 'Sun, 15 Nov 2026 12:00:30 GMT' }, 30_000],
    [
      'Google’s field',
      google,
      googleError(429, 'RESOURCE_EXHAUSTED', [{ '@type': 'google.rpc.RetryInfo', retryDelay: '34.5s' }]),
      {},
      34_500,
    ],
    [
      'the limit that is used up',
      compatible,
      openAiError('Slow.'),
      {
        'x-ratelimit-remaining-requests': '7',
        'x-ratelimit-reset-requests': '8h',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '2m59.5s',
      },
      179_500,
    ],
    [
      'the limits that are used up, of Anthropic',
      anthropic,
      { type: 'error', error: { type: 'rate_limit_error', message: 'Slow.' } },
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-15T12:00:05Z',
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-tokens-reset': '2026-11-15T12:00:20Z',
      },
      20_000,
    ],
    [
      'a moment in milliseconds',
      compatible,
      openAiError('Slow.'),
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 3_000) },
      3_000,
    ],
    [
      'nothing of limits with something left',
      compatible,
      openAiError('Slow.'),
      { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '1m' },
      null,
    ],
  ])('is read from %s', async (_what, model, body, headers, ms) => {
    const { retryAfterMs, retryable, fault } = await failureOn(model, 429, body, headers)
    expect({ retryAfterMs, retryable }).toEqual({ retryAfterMs: ms, retryable: true })
    expect(fault.message).toContain(ms === null ? 'Wait a little' : `Wait ${Math.ceil(ms / 1000)} s`)
  })
})

describe('an error event in a stream', () => {
  const sse = { 'content-type': 'text/event-stream', 'x-request-id': 'req_9' }
  const events = (...data: readonly object[]) => data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
  const half = { choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: null }] }

  it.each([
    ['rate_limit_exceeded', 'rate_limited', true],
    ['server_error', 'passthrough', true],
    ['insufficient_quota', 'rate_limited', false],
    ['invalid_request_error', 'passthrough', false],
    [502, 'passthrough', true],
    [429, 'rate_limited', true],
  ])('of an OpenAI-compatible server is classified by its code %s', async (code, kind, retryable) => {
    const failure = { error: { message: 'It broke.', type: null, param: null, code } }
    expect(await failureOn(compatible, 200, events(half, failure), sse)).toMatchObject({
      fault: { kind, detail: expect.stringContaining('x-request-id: req_9') },
      retryable,
    })
  })

  it('is quoted in any format', async () => {
    const words = {
      fault: { message: expect.stringMatching(/^Service could not answer: The runner stopped\. Change/) },
    }
    expect(await failureOn(compatible, 200, events(half, { error: 'The runner stopped.' }), sse)).toMatchObject(words)
    const onTop = { object: 'error', message: 'The runner stopped.', type: 'odd' }
    expect(await failureOn(compatible, 200, events(half, onTop), sse)).toMatchObject(words)
    expect(await failureOn(compatible, 200, events(half, { message: 'no error' }), sse)).toMatchObject({
      fault: { kind: 'raw_dump' },
    })
  })

  it.each([
    ['rate_limit_exceeded', 'rate_limited', true],
    ['server_error', 'passthrough', true],
    ['insufficient_quota', 'rate_limited', false],
    ['context_length_exceeded', 'passthrough', false],
  ])('of OpenAI Responses is classified by its code %s', async (code, kind, retryable) => {
    const created = { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } }
    const delta = { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'Half' }
    const failed = { type: 'response.failed', sequence_number: 2, response: { error: { code, message: 'It broke.' } } }
    expect(await failureOn(openAi, 200, events(created, delta, failed), sse)).toMatchObject({
      fault: { kind },
      retryable,
    })
  })

  it.each([
    [503, 'UNAVAILABLE', 'passthrough', true],
    [500, 'INTERNAL', 'passthrough', true],
    [429, 'RESOURCE_EXHAUSTED', 'rate_limited', true],
    [400, 'INVALID_ARGUMENT', 'passthrough', false],
  ])('of Google is classified by its code %i', async (code, status, kind, retryable) => {
    const partial = { candidates: [{ content: { role: 'model', parts: [{ text: 'Half' }] } }] }
    expect(await failureOn(google, 200, events(partial, googleError(code, status)), sse)).toMatchObject({
      fault: { kind },
      retryable,
    })
  })
})
