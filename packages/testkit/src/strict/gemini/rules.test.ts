import { describe, expect, it } from 'vitest'
import { complaintAbout, type GivenSignature } from './rules.ts'
import { GeminiRequest, type WireContent, type WirePart } from './wire.ts'

const user = (...parts: readonly WirePart[]): WireContent => ({ role: 'user', parts: [...parts] })
const model = (...parts: readonly WirePart[]): WireContent => ({ role: 'model', parts: [...parts] })
const text = (text: string): WirePart => ({ text })
const call = (id: string, thoughtSignature?: string): WirePart => ({
  functionCall: { id, name: 'shell', args: {} },
  ...(thoughtSignature && { thoughtSignature }),
})
const response = (id: string, name = 'shell'): WirePart => ({
  functionResponse: { id, name, response: { content: 'ok' } },
})
const go = user(text('go'))

const given: readonly GivenSignature[] = [
  { signature: 'sig', part: { functionCall: { name: 'shell', args: {} } } },
  { signature: 'text', part: { text: 'hi' } },
]
const request = (contents: readonly WireContent[], more: object = {}) => GeminiRequest.parse({ contents, ...more })
const about = (contents: readonly WireContent[], of = 'gemini-2.5-pro') => complaintAbout(request(contents), of, given)

const unequal =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
const alternate = 'Please ensure that multiturn requests alternate between user and model.'
const afterUser =
  'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'

describe('strict Gemini server', () => {
  it.each<readonly [string, readonly WireContent[]]>([
    [
      'rounds of calls followed by a user message',
      [go, model(call('a'), call('b')), user(response('a'), response('b')), go],
    ],
    ['a call after a response', [go, model(call('a')), user(response('a')), model(call('b')), user(response('b'))]],
    ['text with its signature', [go, model({ ...text('hi'), thoughtSignature: 'text' }), go]],
    [
      'a signature without text',
      [go, model(text('hi'), { text: '', thoughtSignature: 'skip_thought_signature_validator' }), go],
    ],
  ])('accepts %s', (_what, contents) => {
    expect(about(contents)).toBeNull()
  })

  it.each<readonly [string, readonly WireContent[], string]>([
    ['an empty request', [], '* GenerateContentRequest.contents: contents is not specified\n'],
    ['a role of another API', [{ role: 'assistant', parts: [text('hi')] }], 'Please use a valid role: user, model.'],
    ['no part', [user()], '* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n'],
    [
      'a part without data',
      [user({})],
      "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field\n",
    ],
    [
      'an empty text',
      [user(text(''))],
      'Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.',
    ],
    [
      'an unsupported file type',
      [user({ inlineData: { mimeType: 'image/gif', data: '' } })],
      'Unsupported MIME type: image/gif',
    ],
    ['two messages of people', [go, go], alternate],
    ['two answers', [go, model(text('a')), model(text('b')), go], alternate],
    ['a start by the model', [model(text('a')), go], alternate],
    ['a call at the start', [model(call('a')), user(response('a'))], afterUser],
    ['a call after text of the model', [go, model(text('a')), model(call('a')), user(response('a'))], afterUser],
    ['a call without a response', [go, model(call('a')), go], unequal],
    ['one response of two', [go, model(call('a'), call('b')), user(response('a'))], unequal],
    ['a response too many', [go, model(call('a')), user(response('a'), response('b'))], unequal],
    ['two responses to one call', [go, model(call('a'), call('b')), user(response('a'), response('a'))], unequal],
    ['a response of another tool', [go, model(call('a')), user(response('a', 'other'))], unequal],
    [
      'a response without its call',
      [go, model(text('hi')), user(response('a'))],
      'Please ensure that function response turn comes immediately after a function call turn.',
    ],
    [
      'a last message of the model',
      [go, model(text('hi'))],
      'Please ensure that multiturn requests ends with a user role or a function response.',
    ],
    ['a signature it never gave', [go, model(call('a', 'other')), user(response('a'))], 'Corrupted thought signature.'],
    [
      'a signature on another part',
      [go, model({ ...text('bye'), thoughtSignature: 'text' }), go],
      'Corrupted thought signature.',
    ],
  ])('refuses %s', (_what, contents, complaint) => {
    expect(about(contents)).toBe(complaint)
  })

  it('requires the signature of the first call of each answer in the running turn, from Gemini 3 on', () => {
    const unsigned = [go, model(call('a')), user(response('a'))]
    expect(about(unsigned, 'gemini-3-pro-preview')).toBe(
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:shell` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.',
    )
    expect(about(unsigned)).toBeNull()
    expect(about([...unsigned, go], 'gemini-3-pro-preview')).toBeNull()
    const signed = [go, model(call('a', 'sig'), call('b')), user(response('a'), response('b'))]
    expect(about(signed, 'gemini-3-pro-preview')).toBeNull()
  })

  it('refuses a tool name that does not start with a letter', () => {
    const tools = [{ functionDeclarations: [{ name: '3d' }] }]
    const complaint = complaintAbout(request([go], { tools }), 'gemini-3-pro-preview', [])
    expect(complaint).toContain('GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.')
  })
})
