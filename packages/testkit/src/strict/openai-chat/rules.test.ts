import { describe, expect, it } from 'vitest'
import { complaintAbout } from './rules.ts'
import { type ChatMessage, ChatRequest } from './wire.ts'

const user = (content: string): ChatMessage => ({ role: 'user', content })
const says = (content: string | null): ChatMessage => ({ role: 'assistant', content })
const asks = (...ids: readonly string[]): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'shell', arguments: '{}' } })),
})
const asksFor = (name: string, json: string): ChatMessage => ({
  role: 'assistant',
  tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: json } }],
})
const result = (id: string, content = 'ok'): ChatMessage => ({ role: 'tool', tool_call_id: id, content })
const go = user('go')

const request = (messages: readonly ChatMessage[], more: object = {}) =>
  ChatRequest.parse({ model: 'gpt', stream: true, messages, ...more })

describe('strict Chat Completions server', () => {
  it('accepts complete rounds with results in any order and an empty result', () => {
    const system: ChatMessage = { role: 'system', content: 'Be brief.' }
    const rounds = [system, go, asks('a', 'b'), result('b'), result('a', ''), user('and'), user('so?'), says('Done.')]
    expect(complaintAbout(request(rounds))).toBeNull()
  })

  it('applies the special rules of Mistral and DeepSeek', () => {
    const asked = (model: string, ...messages: readonly ChatMessage[]) => complaintAbout(request(messages, { model }))
    const round = (id: string) => [go, asks(id), result(id)]
    expect(asked('mistral-large', ...round('c1'))).toMatch(/^Tool call id was c1/)
    expect(asked('mistral-large', ...round('c00000001'))).toBeNull()
    expect(asked('mistral-large', ...round('c00000001'), go)).toBe("Unexpected role 'user' after role 'tool'")
    expect(asked('deepseek-v4', ...round('c1'))).toMatch(/^Missing `reasoning_content`.* index 1/)
    const thought = { ...asks('c1'), reasoning_content: '' } as ChatMessage // `asks` makes an answer
    expect(asked('deepseek-v4', go, thought, result('c1'))).toBeNull()
  })

  it('refuses a reasoning effort for a model without reasoning', () => {
    const asked = (model: string) => complaintAbout(request([go], { model, reasoning_effort: 'none' }))
    expect(asked('gpt-4.1')).toBe('Unrecognized request argument supplied: reasoning_effort')
    expect(asked('gpt-5')).toBeNull()
  })

  it.each<readonly [string, readonly ChatMessage[], string]>([
    [
      'no message',
      [],
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ],
    ['an answer without content', [go, says(null)], "Invalid value for 'content': expected a string, got null."],
    [
      'an empty text',
      [go, says('')],
      "Invalid 'messages[1].content': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    [
      'a message without parts',
      [{ role: 'user', content: [] }],
      "Invalid 'messages[0].content': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ],
    [
      'an empty part',
      [{ role: 'user', content: [{ type: 'text', text: '' }] }],
      "Invalid 'messages[0].content[0].text': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    [
      'an empty list of calls',
      [go, asks()],
      "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ],
    [
      'a call without its result',
      [go, asks('call_1', 'call_2'), result('call_2'), user('hello?')],
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    ],
    [
      'a result after text',
      [go, asks('call_1'), user('first'), result('call_1')],
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ],
    [
      'a result without its call',
      [go, says('hi'), result('call_9')],
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ],
    [
      'a result of another call',
      [go, asks('call_1'), result('call_1'), result('call_9')],
      "Invalid parameter: 'tool_call_id' of 'call_9' not found in 'tool_calls' of previous message.",
    ],
    [
      'two results for one call',
      [go, asks('a'), result('a'), result('a')],
      "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3].",
    ],
    [
      'an id used twice',
      [go, asks('a'), result('a'), asks('a'), result('b')],
      "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[1] and messages[3].",
    ],
    [
      'an overlong id',
      [go, asks('x'.repeat(41)), result('x'.repeat(41))],
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
    ],
    [
      'a name of another format',
      [go, asksFor('a.b', '{}'), result('a')],
      "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    [
      'incomplete arguments',
      [go, asksFor('shell', '{"comm'), result('a')],
      "Invalid 'messages[1].tool_calls[0].function.arguments': expected the JSON of an object.",
    ],
  ])('refuses %s', (_what, messages, complaint) => {
    expect(complaintAbout(request(messages))).toBe(complaint)
  })

  it('refuses an overlong tool name', () => {
    const tools = [{ type: 'function', function: { name: 'x'.repeat(65) } }]
    expect(complaintAbout(request([go], { tools }))).toContain("Invalid 'tools[0].function.name': string too long.")
  })
})
