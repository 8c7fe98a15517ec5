import { describe, expect, it } from 'vitest'
import { complaintAbout, type GivenItem } from './rules.ts'
import { ResponsesRequest, type WireItem } from './wire.ts'

const go: WireItem = { role: 'user', content: [{ type: 'input_text', text: 'go' }] }
const says = (content: string, id?: string): WireItem => ({ role: 'assistant', content, ...(id && { id }) })
const call = (call_id: string, id?: string): WireItem => ({
  type: 'function_call',
  call_id,
  name: 'shell',
  arguments: '{}',
  ...(id && { id }),
})
const output = (call_id: string): WireItem => ({ type: 'function_call_output', call_id, output: 'ok' })
const reasoning = (id = 'rs_1', encrypted_content: string | null = 'enc'): WireItem => ({
  type: 'reasoning',
  id,
  encrypted_content,
  summary: [],
})
const given: readonly GivenItem[] = [
  { id: 'rs_1', reasoning: null, encrypted: 'enc' },
  { id: 'fc_1', reasoning: 'rs_1', encrypted: null },
  { id: 'msg_1', reasoning: 'rs_1', encrypted: null },
]

const request = (input: readonly WireItem[], more: object = {}) =>
  ResponsesRequest.parse({ model: 'gpt-5', stream: true, store: false, input, ...more })

describe('strict Responses server', () => {
  it.each<readonly [string, readonly WireItem[]]>([
    ['reasoning with its call', [go, reasoning(), call('a', 'fc_1'), output('a')]],
    ['reasoning with its text', [go, reasoning(), says('hi', 'msg_1'), go]],
    ['calls without ids of their own', [go, call('a'), call('b'), output('b'), output('a'), go, go]],
    ['an output further behind', [go, call('a'), go, output('a')]],
  ])('accepts %s', (_what, input) => {
    expect(complaintAbout(request(input), given)).toBeNull()
  })

  it.each<readonly [string, readonly WireItem[], string]>([
    [
      'an empty input',
      [],
      "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ],
    [
      'an empty text',
      [go, says('')],
      "Invalid 'input[1].content': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    ['a call without its output', [go, call('call_1'), go], 'No tool output found for function call call_1.'],
    [
      'an output before its call',
      [go, output('call_1'), call('call_1')],
      'No tool call found for function call output with call_id call_1.',
    ],
    [
      'an output without its call',
      [go, output('call_9')],
      'No tool call found for function call output with call_id call_9.',
    ],
    [
      'two outputs for one call',
      [go, call('a'), output('a'), output('a')],
      'Duplicate item found with id a. Remove duplicate items from your input and try again.',
    ],
    [
      'a duplicate item',
      [go, reasoning(), says('x'), reasoning(), says('x')],
      'Duplicate item found with id rs_1. Remove duplicate items from your input and try again.',
    ],
    [
      'reasoning at the end',
      [go, reasoning()],
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    [
      'reasoning before a user message',
      [go, reasoning(), go],
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    [
      'a call without its reasoning',
      [go, call('a', 'fc_1'), output('a')],
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    ],
    [
      'text without its reasoning',
      [go, says('hi', 'msg_1')],
      "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.",
    ],
    [
      'changed reasoning',
      [go, reasoning('rs_1', 'encX'), call('a'), output('a')],
      'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    ],
    [
      'a reference to stored reasoning',
      [go, reasoning('rs_1', null), call('a'), output('a')],
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    ],
    [
      'a reference to a stored item',
      [go, { type: 'item_reference', id: 'msg_7' }],
      "Item with id 'msg_7' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    ],
    [
      'an id with another prefix',
      [go, call('a', 'call_1'), output('a')],
      "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
    ],
    [
      'an overlong id',
      [go, call('x'.repeat(65)), output('x'.repeat(65))],
      "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    ],
  ])('refuses %s', (_what, input, complaint) => {
    expect(complaintAbout(request(input), given)).toBe(complaint)
  })

  it('refuses reasoning items and settings for a model without reasoning', () => {
    const old = { model: 'gpt-4.1' }
    expect(complaintAbout(request([go, reasoning(), says('x')], old), given)).toBe(
      'Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.',
    )
    expect(complaintAbout(request([go], { ...old, include: ['reasoning.encrypted_content'] }), given)).toBe(
      'Encrypted content is not supported with this model.',
    )
    expect(complaintAbout(request([go], old), given)).toBeNull()
  })

  it('refuses a previous response id, an invalid name and incomplete arguments', () => {
    const response = request([go], { previous_response_id: 'resp_1' })
    expect(complaintAbout(response, [])).toBe("Previous response with id 'resp_1' not found.")
    const tools = [{ type: 'function', name: 'a.b' }]
    expect(complaintAbout(request([go], { tools }), [])).toContain("Invalid 'tools[0].name'")
    const cut: WireItem = { type: 'function_call', call_id: 'a', name: 'shell', arguments: '{"comm' }
    expect(complaintAbout(request([go, cut, output('a')]), [])).toContain("Invalid 'input[1].arguments'")
  })
})
