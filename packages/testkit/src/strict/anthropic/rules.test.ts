import { describe, expect, it } from 'vitest'
import { complaintAbout, type GivenAnswer } from './rules.ts'
import { AnthropicRequest, type WireBlock } from './wire.ts'

type Turn = readonly ['user' | 'assistant', ...WireBlock[]]

const text = (text: string): WireBlock => ({ type: 'text', text })
const use = (id: string): WireBlock => ({ type: 'tool_use', id, name: 'shell', input: { command: 'ls' } })
const result = (id: string): WireBlock => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })
const thought = (thinking: string, signature = 'sig'): WireBlock => ({ type: 'thinking', thinking, signature })
const go: Turn = ['user', text('go')]

const given: readonly GivenAnswer[] = [
  {
    thinking: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }],
    uses: [{ name: 'shell', input: { command: 'ls' } }],
  },
]
const request = (turns: readonly Turn[], more: object = {}) =>
  AnthropicRequest.parse({
    model: 'claude',
    max_tokens: 100,
    stream: true,
    messages: turns.map(([role, ...content]) => ({ role, content })),
    ...more,
  })

describe('strict Anthropic server', () => {
  it('accepts complete rounds with their original thinking', () => {
    const turns: readonly Turn[] = [go, ['assistant', thought('hm'), use('a')], ['user', result('a'), text('and now?')]]
    expect(complaintAbout(request(turns, { thinking: { type: 'adaptive' } }), given)).toBeNull()
  })

  it.each<readonly [string, readonly Turn[], string]>([
    ['no message', [], 'messages: at least one message is required'],
    ['a start by the model', [['assistant', text('hi')]], 'messages: first message must use the "user" role'],
    [
      'an empty message',
      [go, ['assistant'], go],
      'messages: all messages must have non-empty content except for the optional final assistant message',
    ],
    ['an empty text', [go, ['assistant', text('')], go], 'messages: text content blocks must be non-empty'],
    ['a blank text', [['user', text(' ')]], 'messages: text content blocks must contain non-whitespace text'],
    [
      'a prefill that ends with a blank',
      [go, ['assistant', text('so ')]],
      'messages: final assistant content cannot end with trailing whitespace',
    ],
    [
      'a call without its result',
      [go, ['assistant', use('toolu_1')], ['user', text('hello?')]],
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ],
    [
      'a result after text',
      [go, ['assistant', use('toolu_1')], ['user', text('first'), result('toolu_1')]],
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ],
    [
      'a result without its call',
      [go, ['assistant', text('hi')], ['user', result('toolu_9')]],
      'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    ],
    [
      'two results for one call',
      [go, ['assistant', use('a')], ['user', result('a'), result('a')]],
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
    ],
    [
      'an id used twice',
      [go, ['assistant', use('a')], ['user', result('a')], ['assistant', text('x'), use('a')], ['user', result('a')]],
      'messages.3.content.1: `tool_use` ids must be unique',
    ],
    [
      'an id of another format',
      [go, ['assistant', use('a b')], ['user', result('a b')]],
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      'an answer that ends with thinking',
      [go, ['assistant', thought('hm')], go],
      'messages.1: The final block in an assistant message cannot be `thinking`.',
    ],
    [
      'changed thinking text',
      [go, ['assistant', thought('hmm'), use('a')], ['user', result('a')]],
      'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    ],
    [
      'a changed signature',
      [go, ['assistant', thought('hm', 'other'), use('a')], ['user', result('a')]],
      'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    ],
    [
      'an unknown signature in an earlier message',
      [go, ['assistant', thought('hm', 'other'), text('x')], go, ['assistant', text('y')], go],
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
  ])('refuses %s', (_what, turns, complaint) => {
    expect(complaintAbout(request(turns), given)).toBe(complaint)
  })

  it('refuses a round without its thinking while thinking is on', () => {
    const turns: readonly Turn[] = [go, ['assistant', use('a')], ['user', result('a')]]
    const on = request(turns, { thinking: { type: 'enabled', budget_tokens: 1024 } })
    expect(complaintAbout(on, given)).toContain('Expected `thinking` or `redacted_thinking`, but found `tool_use`')
    expect(complaintAbout(request(turns, { thinking: { type: 'adaptive' } }), given)).toContain('but found `tool_use`')
    expect(complaintAbout(request(turns, { thinking: { type: 'disabled' } }), given)).toBeNull()
  })

  it('refuses an image that is too large', () => {
    const image = (length: number): WireBlock => ({
      type: 'image',
      source: { type: 'base64', data: 'x'.repeat(length) },
    })
    expect(complaintAbout(request([['user', image(5 * 1024 * 1024 + 1)]]), [])).toBe(
      'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5242881 bytes > 5242880 bytes',
    )
    expect(complaintAbout(request([['user', image(5 * 1024 * 1024)]]), [])).toBeNull()
  })

  it('refuses a thinking budget in rounds that started without thinking', () => {
    const budget = { thinking: { type: 'enabled', budget_tokens: 1024 } }
    const others: readonly Turn[] = [go, ['assistant', use('x')], ['user', result('x')]]
    expect(complaintAbout(request(others, budget), [])).toContain('messages.1.content.0.type: Expected `thinking`')
    expect(complaintAbout(request(others, { thinking: { type: 'adaptive' } }), [])).toBeNull()
    const begun: readonly Turn[] = [go, ['assistant', thought('hm'), use('a')], ['user', result('a')]]
    const goesOn: readonly Turn[] = [...begun, ['assistant', use('b')], ['user', result('b')]]
    expect(complaintAbout(request(goesOn, budget), given)).toBeNull()
    expect(complaintAbout(request([...others, ['assistant', text('so')], go], budget), [])).toBeNull()
  })

  it('refuses an empty error result and an invalid tool name', () => {
    const silent: WireBlock = { type: 'tool_result', tool_use_id: 'a', content: '', is_error: true }
    expect(complaintAbout(request([go, ['assistant', use('a')], ['user', silent]]), [])).toContain(
      'content cannot be empty',
    )
    const tools = [{ name: 'a.b', input_schema: { type: 'object' } }]
    expect(complaintAbout(request([go], { tools }), [])).toContain('tools.0.custom.name')
  })
})
