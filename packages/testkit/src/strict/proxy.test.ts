import { describe, expect, it } from 'vitest'
import type { HistoryProvider } from '../validate-history/providers.ts'
import { startAnthropicServer } from './anthropic/server.ts'
import { startGeminiServer } from './gemini/server.ts'
import { startOpenAiChatServer } from './openai-chat/server.ts'
import { startOpenAiResponsesServer } from './openai-responses/server.ts'
import { startStrictProxy } from './proxy.ts'

const user = { role: 'user', content: 'go' }
const anthropic = (thinking: string) => ({
  model: 'claude',
  max_tokens: 9,
  stream: true,
  thinking: { type: 'enabled', budget_tokens: 1 },
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking, signature: 'sig' },
        { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
  ],
})
const responses = (encrypted_content: string) => ({
  model: 'gpt-5',
  stream: true,
  store: false,
  input: [
    user,
    { type: 'reasoning', id: 'rs_1_0', encrypted_content, summary: [{ type: 'summary_text', text: 'hm' }] },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
    { type: 'function_call_output', call_id: 'c1', output: 'ok' },
  ],
})
const gemini = (thoughtSignature: string) => ({
  contents: [
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'model',
      parts: [
        { text: 'I look.', thoughtSignature: 'text' },
        { functionCall: { name: 'look', args: { at: 1 } }, thoughtSignature },
      ],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'look', response: { content: 'ok' } } }] },
  ],
})

/** For each service: a first request, its answer, and a second request with that answer unchanged and changed. */
const services = [
  {
    service: 'anthropic',
    path: '/v1/messages',
    start: () =>
      startAnthropicServer(
        {
          type: 'message',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sig' },
            { type: 'tool_use', name: 'look', input: { at: 1 } },
          ],
        },
        { type: 'message', content: [{ type: 'text', text: 'done' }] },
      ),
    first: { ...anthropic(''), messages: anthropic('').messages.slice(0, 1) },
    unchanged: anthropic('hm'),
    changed: anthropic('hm, hm'),
  },
  {
    service: 'openai-responses',
    path: '/v1/responses',
    start: () =>
      startOpenAiResponsesServer(
        {
          type: 'message',
          content: [
            { type: 'reasoning', summary: ['hm'], encrypted: 'enc' },
            { type: 'function_call', name: 'look', input: { at: 1 } },
          ],
        },
        { type: 'message', content: [{ type: 'message', text: 'done' }] },
      ),
    first: { ...responses(''), input: [user] },
    unchanged: responses('enc'),
    changed: responses('other'),
  },
  {
    service: 'gemini',
    path: '/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse',
    start: () =>
      startGeminiServer(
        {
          type: 'message',
          content: [
            { type: 'text', text: 'I look.', signature: 'text' },
            { type: 'call', name: 'look', args: { at: 1 }, signature: 'call' },
          ],
        },
        { type: 'message', content: [{ type: 'text', text: 'done' }] },
      ),
    first: { contents: gemini('').contents.slice(0, 1) },
    unchanged: gemini('call'),
    changed: gemini('other'),
  },
  {
    service: 'openai-chat',
    path: '/v1/chat/completions',
    start: () =>
      startOpenAiChatServer(
        { type: 'message', content: [{ type: 'text', text: 'hi' }] },
        { type: 'message', content: [{ type: 'text', text: 'done' }] },
      ),
    first: { model: 'gpt-5', stream: true, messages: [user] },
    unchanged: { model: 'gpt-5', stream: true, messages: [user, { role: 'assistant', content: 'hi' }, user] },
    changed: { model: 'gpt-5', stream: true, messages: [] },
  },
] as const

describe.each(services)('proxy for $service', ({ service, path, start, first, unchanged, changed }) => {
  it('checks requests against earlier answers of the upstream server', async () => {
    await using server = await start()
    await using front = await startStrictProxy(() => server.url)
    const answers: string[] = []
    for (const body of [first, changed, unchanged]) {
      const answered = await fetch(`${front.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
      answers.push(`${answered.status} ${await answered.text()}`)
    }
    const complaints = front.requests.map(({ complaint }) => complaint)
    expect(complaints).toEqual(server.requests.map(({ complaint }) => complaint))
    expect(complaints).toEqual([null, expect.any(String), null])
    expect(front.requests.map(({ answer }) => `${answer.status} ${answer.text}`)).toEqual(answers)
    expect(front.requests.map((request) => request.service)).toEqual(Array<HistoryProvider>(3).fill(service))
    expect(front.requests.map(({ body }) => body)).toEqual(
      [first, changed, unchanged].map((one) => JSON.stringify(one)),
    )
  })
})
