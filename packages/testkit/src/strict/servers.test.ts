import { describe, expect, it } from 'vitest'
import { startAnthropicServer } from './anthropic/server.ts'
import { startGeminiServer } from './gemini/server.ts'
import { startOpenAiChatServer } from './openai-chat/server.ts'
import { startOpenAiResponsesServer } from './openai-responses/server.ts'

const hello = { role: 'user', content: 'hello' }
const openAiError = (message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
})
const empty = (at: string) =>
  `Invalid '${at}': empty array. Expected an array with minimum length 1, but got an empty array instead.`

const text = { type: 'message', content: [{ type: 'text', text: 'hi' }] } as const

/** For each server: a valid request, an invalid one with the expected error, and the events of its stream. */
const servers = [
  {
    name: 'Anthropic',
    start: () => startAnthropicServer(text),
    path: '/v1/messages',
    good: {
      model: 'claude',
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    },
    broken: { model: 'claude', max_tokens: 9, stream: true, messages: [] },
    refusal: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'messages: at least one message is required' },
    },
    stream: ['message_start', 'message_stop'],
  },
  {
    name: 'Chat Completions',
    start: () => startOpenAiChatServer(text),
    path: '/v1/chat/completions',
    good: { model: 'gpt-5', stream: true, messages: [hello] },
    broken: { model: 'gpt-5', stream: true, messages: [] },
    refusal: openAiError(empty('messages')),
    stream: ['"object":"chat.completion.chunk"', '"finish_reason":"stop"', 'data: [DONE]'],
  },
  {
    name: 'Responses',
    start: () => startOpenAiResponsesServer({ type: 'message', content: [{ type: 'message', text: 'hi' }] }),
    path: '/v1/responses',
    good: { model: 'gpt-5', stream: true, input: [hello] },
    broken: { model: 'gpt-5', stream: true, input: [] },
    refusal: openAiError(empty('input')),
    stream: ['event: response.created', 'event: response.output_text.delta', 'event: response.completed'],
  },
  {
    name: 'Gemini',
    start: () => startGeminiServer(text),
    path: '/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse',
    good: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
    broken: { contents: [] },
    refusal: {
      error: {
        code: 400,
        message: '* GenerateContentRequest.contents: contents is not specified\n',
        status: 'INVALID_ARGUMENT',
      },
    },
    stream: ['"role":"model"', '"finishReason":"STOP"'],
  },
]

describe.each(servers)('$name server', ({ start, path, good, broken, refusal, stream }) => {
  const ask = (url: string, body: unknown, at = path) =>
    fetch(`${url}${at}`, { method: 'POST', body: JSON.stringify(body) })

  it('refuses an invalid history in its own error format, and keeps its answer for a valid one', async () => {
    await using server = await start()
    const refused = await ask(server.url, broken)
    expect([refused.status, await refused.json()]).toEqual([400, refusal])
    const answered = await ask(server.url, good)
    expect(answered.status).toBe(200)
    const body = await answered.text()
    for (const part of stream) expect(body).toContain(part)
    expect(server.requests.map(({ complaint }) => complaint === null)).toEqual([false, true])
  })

  it('refuses an unpaired surrogate, an invalid body and another path', async () => {
    await using server = await start()
    const half = JSON.parse(JSON.stringify(good).replace('hello', '\\ud83d'))
    expect((await ask(server.url, half)).status).toBe(400)
    expect((await ask(server.url, 'nothing')).status).toBe(400)
    expect((await ask(server.url, good, '/elsewhere')).status).toBe(400)
  })

  it('reports that the script has no more answers', async () => {
    await using server = await start()
    await (await ask(server.url, good)).text()
    expect((await ask(server.url, good)).status).toBe(500)
  })
})
