import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { aRequest } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { AiSdkModel } from './open-stream.ts'
import { createAiSdkProvider } from './provider.ts'
import { collect } from './testing/collect.ts'
import { startFixedServer } from './testing/http-server.ts'

const events = (...data: readonly object[]) => data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')

async function endOf(model: (baseURL: string) => AiSdkModel, body: string) {
  await using server = await startFixedServer(200, body, { 'content-type': 'text/event-stream' })
  return (await collect(createAiSdkProvider(model(server.url), { title: 'Service' }), aRequest())).end
}

const chat = (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL }).chat('gpt-5')
const responses = (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL }).responses('gpt-5')
const google = (baseURL: string) => createGoogle({ apiKey: 'key', baseURL })('gemini-3-pro')

describe('the end and usage of an answer', () => {
  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'refused'],
    ['something_new', 'stop'],
  ])('maps OpenAI Chat %s to %s', async (finish_reason, finish) => {
    const body = events(
      { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason }] },
      {
        choices: [],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        },
      },
    )
    expect(await endOf(chat, body)).toEqual({
      type: 'complete',
      finish,
      usage: { input: 30, output: 7, cacheRead: 60, cacheWrite: 10, cost: null },
    })
  })

  it.each([
    [null, 'stop'],
    ['max_output_tokens', 'length'],
    ['content_filter', 'refused'],
    ['something_new', 'stop'],
  ])('maps OpenAI Responses %s to %s', async (reason, finish) => {
    const response = { id: 'r', created_at: 1, model: 'm' }
    const body = events(
      { type: 'response.created', response },
      {
        type: reason === null ? 'response.completed' : 'response.incomplete',
        response: {
          ...response,
          incomplete_details: reason === null ? null : { reason },
          usage: { input_tokens: 100, output_tokens: 7, input_tokens_details: { cached_tokens: 60 } },
        },
      },
    )
    expect(await endOf(responses, body)).toEqual({
      type: 'complete',
      finish,
      usage: { input: 40, output: 7, cacheRead: 60, cacheWrite: 0, cost: null },
    })
  })

  const gemini = (finishReason: string) =>
    events({
      candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason }],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 2,
        cachedContentTokenCount: 60,
      },
    })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'refused'],
    ['RECITATION', 'refused'],
    ['BLOCKLIST', 'refused'],
    ['PROHIBITED_CONTENT', 'refused'],
    ['SPII', 'refused'],
    ['SOMETHING_NEW', 'stop'],
  ])('maps Google %s to %s', async (reason, finish) => {
    expect(await endOf(google, gemini(reason))).toEqual({
      type: 'complete',
      finish,
      usage: { input: 40, output: 7, cacheRead: 60, cacheWrite: 0, cost: null },
    })
  })

  it('is a failure if the service gave up, with its usage', async () => {
    expect(await endOf(google, gemini('MALFORMED_FUNCTION_CALL'))).toMatchObject({
      type: 'failed',
      fault: {
        kind: 'raw_dump',
        message: 'Service stopped its answer (MALFORMED_FUNCTION_CALL). Continue to try again.',
      },
      retryable: false,
      usage: { input: 40, output: 7, cacheRead: 60 },
    })
  })
})
