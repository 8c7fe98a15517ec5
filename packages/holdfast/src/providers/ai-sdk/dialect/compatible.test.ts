import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { AssistantPart, RequestMessage, UserPart } from '@holdfast/core/ports'
import { aRequest, type OpenAiChatServer, startOpenAiChatServer, userSays } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AiSdkProviderOptions, createAiSdkProvider } from '../provider.ts'
import { collect } from '../testing/collect.ts'

const assistant = (...content: readonly AssistantPart[]): RequestMessage => ({ role: 'assistant', content })
const call = (id: string): AssistantPart => ({ type: 'call', id, tool: 'shell', args: { command: 'ls' } })
const results = (...ids: readonly string[]): RequestMessage => ({
  role: 'tool',
  content: ids.map((id) => ({ id, tool: 'shell', text: 'a.txt', isError: false })),
})
const thought: AssistantPart = { type: 'thinking', text: 'hm so' }

describe('an OpenAI-compatible server', () => {
  let server: OpenAiChatServer
  beforeEach(async () => {
    server = await startOpenAiChatServer()
  })
  afterEach(async () => {
    expect(server.requests.flatMap(({ complaint }) => complaint ?? [])).toEqual([])
    await server.close()
  })

  const providerOf = (name: string, known: Partial<AiSdkProviderOptions> = {}, modelId = 'model-x') =>
    createAiSdkProvider(createOpenAICompatible({ name, baseURL: `${server.url}/v1`, includeUsage: true })(modelId), {
      title: name,
      ...known,
    })
  async function sentBy(
    name: string,
    changes: Parameters<typeof aRequest>[0],
    known: Partial<AiSdkProviderOptions> = {},
  ) {
    server.answer({ type: 'message', content: [{ type: 'text', text: 'ok' }] })
    await collect(providerOf(name, known), aRequest(changes))
    return server.requests.at(-1)?.body as { messages: { [key: string]: unknown }[]; [key: string]: unknown }
  }

  it('streams thinking, text and calls, with usage in the last chunk', async () => {
    server.answer({
      type: 'message',
      content: [
        { type: 'reasoning', text: 'hm so' },
        { type: 'text', text: 'Look' },
        { type: 'tool_call', name: 'shell', input: { command: 'ls' } },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } },
    })
    const { said, parts, end } = await collect(providerOf('vllm'), aRequest())
    expect(said).toEqual([
      { type: 'thinking', text: 'hm so' },
      { type: 'text', text: 'Look' },
      { type: 'call', tool: 'shell', args: { command: 'ls' } },
    ])
    const input = parts.flatMap((part) => (part.type === 'delta' && part.kind === 'input' ? [part.text] : []))
    expect(input.join('')).toBe('{"command":"ls"}')
    expect(end).toEqual({
      type: 'complete',
      finish: 'calls',
      usage: { input: 40, output: 7, cacheRead: 60, cacheWrite: 0, cost: null },
    })
    expect(server.requests[0]?.body).toMatchObject({ stream_options: { include_usage: true } })
  })

  it.each([
    [
      'DeepSeek’s',
      { prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      { input: 36, cacheRead: 64, cacheWrite: 0 },
    ],
    [
      'OpenRouter’s',
      { prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 20 } },
      { input: 70, cacheRead: 10, cacheWrite: 20 },
    ],
    ['an impossible count', { prompt_cache_hit_tokens: 1_000 }, { input: 0, cacheRead: 100, cacheWrite: 0 }],
  ])('has its own cache counts: %s', async (_whose, counts, used) => {
    server.answer({ type: 'message', content: [{ type: 'text', text: 'x' }], usage: { prompt_tokens: 100, ...counts } })
    expect((await collect(providerOf('any'), aRequest())).end).toMatchObject({ type: 'complete', usage: used })
  })

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'refused'],
    ['something_new', 'stop'],
  ])('maps the finish reason %s to %s', async (stopReason, finish) => {
    server.answer({ type: 'message', content: [{ type: 'text', text: 'x' }], stopReason })
    expect((await collect(providerOf('any'), aRequest())).end).toMatchObject({ type: 'complete', finish })
  })

  it('does not get its reasoning back', async () => {
    const messages = [userSays('go'), assistant(thought, call('c1')), results('c1')]
    const { messages: sent } = await sentBy('ollama', { messages })
    expect(sent[2]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } }],
    })
  })

  it('gets reasoning back with calls only for DeepSeek, even if it is empty', async () => {
    const messages = [
      userSays('a'),
      assistant(thought, { type: 'text', text: 'Hi.' }),
      userSays('b'),
      assistant(thought, call('c1')),
      results('c1'),
      assistant(call('c2')),
      results('c2'),
    ]
    const { messages: sent } = await sentBy('deepseek', { messages })
    const answers = sent.filter(({ role }) => role === 'assistant')
    expect(answers.map((answer) => answer['reasoning_content'])).toEqual([undefined, 'hm so', ''])
  })

  it('is asked to think only if the model is known to', async () => {
    for (const thinkingLevel of ['off', 'low', 'high'] as const) {
      expect(await sentBy('vllm', { thinkingLevel })).not.toHaveProperty('reasoning_effort')
      expect(await sentBy('vllm', { thinkingLevel }, { thinkingLevels: ['off'] })).not.toHaveProperty(
        'reasoning_effort',
      )
    }
  })

  it.each([
    ['ollama', 'off', { reasoning_effort: 'none' }],
    ['ollama', 'medium', { reasoning_effort: 'medium' }],
    ['deepseek', 'off', { thinking: { type: 'disabled' } }],
    ['deepseek', 'high', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['openrouter', 'off', { reasoning: { effort: 'none' } }],
    ['openrouter', 'low', { reasoning: { effort: 'low' } }],
  ] as const)('gets the options of %s for thinking level %s', async (name, thinkingLevel, asked) => {
    const body = await sentBy(name, { thinkingLevel }, { thinkingLevels: ['off', 'low', 'medium', 'high'] })
    const { reasoning_effort, thinking, reasoning } = body
    expect(JSON.parse(JSON.stringify({ reasoning_effort, thinking, reasoning }))).toEqual(asked)
  })

  it.each([
    ['deepseek', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['openrouter', { reasoning: { effort: 'high' } }],
    [null, { reasoning_effort: 'high' }],
  ])('gets the options of %s by its address, under any configured name', async (preset, asked) => {
    const known = { thinkingLevels: ['off', 'high'] as const, api: 'chat' as const, preset }
    const { reasoning_effort, thinking, reasoning } = await sentBy('my-own.box', { thinkingLevel: 'high' }, known)
    expect(JSON.parse(JSON.stringify({ reasoning_effort, thinking, reasoning }))).toEqual(asked)
  })

  it('sends valid call ids to Mistral and no user message right after results', async () => {
    const messages = [
      userSays('go'),
      assistant(call('c17'), call('odd id')),
      results('c17', 'odd id'),
      userSays('stop'),
    ]
    const { messages: sent } = await sentBy('mistral', { messages })
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user'])
    const ids = sent.flatMap(({ tool_call_id: id }) => id ?? [])
    expect(ids[0]).toBe('c00000017')
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(sent[2]?.['tool_calls']).toMatchObject(ids.map((id) => ({ id })))
  })

  it('asks OpenRouter to set cache marks for Anthropic’s models', async () => {
    const ask = async (modelId: string, changes = {}) => {
      server.answer({ type: 'message', content: [{ type: 'text', text: 'ok' }] })
      await collect(providerOf('openrouter', {}, modelId), aRequest(changes))
      return server.requests.at(-1)?.body
    }
    expect(await ask('anthropic/claude-sonnet-5')).toMatchObject({ cache_control: { type: 'ephemeral' } })
    expect(await ask('anthropic/claude-sonnet-5', { purpose: 'summary' })).not.toHaveProperty('cache_control')
    expect(await ask('openai/gpt-6-sol')).not.toHaveProperty('cache_control')
  })

  it('gets images, and PDF files only if the model is known to accept them', async () => {
    const file = (mediaType: string): UserPart => ({ type: 'file', mediaType, name: 'f', bytes: new Uint8Array([1]) })
    const messages: readonly RequestMessage[] = [
      { role: 'user', content: [file('image/png'), file('application/pdf'), file('text/plain')] },
    ]
    const kinds = async (takes?: readonly string[]) => {
      const { messages: sent } = await sentBy('any', { messages }, takes ? { takes } : {})
      const content = sent[1]?.['content']
      return Array.isArray(content) ? content.map(({ type }) => type) : []
    }
    expect(await kinds()).toEqual(['image_url', 'text', 'text'])
    expect(await kinds(['image/*', 'application/pdf'])).toEqual(['image_url', 'file', 'text'])
    expect(await kinds([])).toEqual(['text', 'text', 'text'])
  })
})
