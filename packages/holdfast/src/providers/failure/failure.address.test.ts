import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import type { AiSdkModel } from '../ai-sdk/open-stream.ts'
import { createAiSdkProvider } from '../ai-sdk/provider.ts'
import { collectFailure, startFixedServer } from '../ai-sdk/testing/http-server.ts'

const services: readonly (readonly [string, (baseURL: string) => AiSdkModel])[] = [
  ['anthropic', (baseURL) => createAnthropic({ apiKey: 'key', baseURL })('claude')],
  ['openai chat', (baseURL) => createOpenAI({ apiKey: 'key', baseURL }).chat('gpt-5')],
  ['openai responses', (baseURL) => createOpenAI({ apiKey: 'key', baseURL }).responses('gpt-5')],
  ['google', (baseURL) => createGoogle({ apiKey: 'key', baseURL })('gemini-3-pro')],
  ['compatible', (baseURL) => createOpenAICompatible({ name: 'ollama', baseURL })('llama')],
]
const page = '<!doctype html><html><title>Welcome</title></html>'
const html = { 'content-type': 'text/html; charset=utf-8' }
const json = { 'content-type': 'application/json' }

async function failureOn(model: (baseURL: string) => AiSdkModel, ...answer: Parameters<typeof startFixedServer>) {
  await using server = await startFixedServer(...answer)
  const provider = createAiSdkProvider(model(server.url), { title: 'Service', endpoint: server.url })
  return (await collectFailure(provider)).end
}

const head = `data: ${JSON.stringify({ type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 1 } } })}\n\n`

describe.each(services)('a wrong base URL for %s', (name, model) => {
  it.each([
    ['a missing page', 404, page, html],
    ['a page that refuses POST', 405, page, html],
    ['words of a server', 404, '404 page not found', { 'content-type': 'text/plain' }],
    ['another API without the path', 404, '{"detail":"Not Found"}', json],
    ['a gateway without a route', 404, '{"message":"no Route matched with those values"}', json],
    ['another API without the method', 405, '{"detail":"Method Not Allowed"}', json],
    ['a page instead of a stream', 200, page, html],
    ['a document instead of a stream', 200, '{"hello":"world"}', json],
  ])('is recognized: %s', async (_what, status, body, headers) => {
    expect(await failureOn(model, status, body, headers)).toMatchObject({
      fault: {
        kind: 'raw_dump',
        message: expect.stringMatching(
          /^The server at http:\/\/127.*? is not the API of Service( \(HTTP 40\d\))?\. Check the base URL, then continue\.$/,
        ),
      },
      retryable: false,
    })
  })

  it('is not assumed for an empty answer', async () => {
    const stream = { 'content-type': 'text/event-stream' }
    expect(await failureOn(model, 200, '', stream)).toMatchObject({ fault: { kind: 'unreachable' }, retryable: true })
  })

  it('is a raw dump if the answer is unreadable', async () => {
    const stream = { 'content-type': 'text/event-stream' }
    const body = `${name === 'anthropic' ? head : ''}data: {"half": \n\n`
    expect(await failureOn(model, 200, body, stream)).toMatchObject({
      fault: { kind: 'raw_dump', message: expect.stringContaining('without a clear reason') },
      retryable: false,
    })
  })

  it('is not assumed if a proxy blocks the call', async () => {
    expect(await failureOn(model, 403, page, html)).toMatchObject({
      fault: {
        kind: 'auth_failed',
        message: expect.stringMatching(/^The call to 127.* was blocked \(HTTP 403\)/),
      },
      retryable: false,
    })
  })

  it('is not assumed for an error with an empty body', async () => {
    expect(await failureOn(model, 500, '')).toMatchObject({ fault: { kind: 'raw_dump' }, retryable: true })
  })
})

describe('a service that redirects', () => {
  it('is not followed and counts as a wrong address', async () => {
    const fetchHere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' })
    const model = (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL, fetch: fetchHere }).chat('gpt-5')
    expect(await failureOn(model, 302, '', { location: 'http://example.invalid/' })).toMatchObject({
      fault: { kind: 'raw_dump', message: expect.stringContaining('is not the API of Service (HTTP 302)') },
      retryable: false,
    })
  })
})
