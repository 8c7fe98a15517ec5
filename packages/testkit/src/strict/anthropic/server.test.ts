import { describe, expect, it } from 'vitest'
import { startAnthropicServer } from './server.ts'

const ask = (url: string, messages: unknown) =>
  fetch(`${url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'claude', max_tokens: 10, stream: true, messages }),
  })
const hello = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }]

const events = (stream: string) =>
  stream.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))

describe('Anthropic server', () => {
  it('streams a scripted message in Anthropic’s events', async () => {
    await using server = await startAnthropicServer({
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'Look:' },
        { type: 'tool_use', name: 'shell', input: { command: 'ls' } },
      ],
    })
    const stream = events(await (await ask(server.url, hello)).text())
    expect(stream.map(({ type, delta }) => delta?.type ?? type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'thinking_delta',
      'thinking_delta',
      'signature_delta',
      'content_block_stop',
      'content_block_start',
      'text_delta',
      'text_delta',
      'content_block_stop',
      'content_block_start',
      'input_json_delta',
      'input_json_delta',
      'input_json_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(stream.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
  })

  it('answers an invalid history with 400, and keeps the scripted answer for the next request', async () => {
    await using server = await startAnthropicServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const refused = await ask(server.url, [])
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'messages: at least one message is required' },
    })
    expect((await ask(server.url, hello)).status).toBe(200)
    expect(server.requests.map(({ complaint }) => complaint === null)).toEqual([false, true])
  })

  it('answers with the scripted status and headers', async () => {
    await using server = await startAnthropicServer({
      type: 'error',
      status: 429,
      message: 'slow down',
      headers: { 'retry-after': '7' },
    })
    const response = await ask(server.url, hello)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  })

  it('cuts the stream after the scripted number of events', async () => {
    await using server = await startAnthropicServer({
      type: 'message',
      content: [{ type: 'text', text: 'never whole' }],
      after: { events: 3, detour: { type: 'cut' } },
    })
    const response = await ask(server.url, hello)
    await expect(response.text()).rejects.toThrow()
  })
})
