import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelPart, ModelReadiness } from '@holdfast/core/ports'
import { ModelList } from '@holdfast/protocol'
import {
  aRequest,
  startAnthropicServer,
  startGeminiServer,
  startOpenAiChatServer,
  startOpenAiResponsesServer,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createModels } from './models.ts'
import { resolveServices } from './services/registry.ts'

async function collect(readiness: ModelReadiness, request = aRequest()) {
  if (readiness.type !== 'ready') throw new Error(readiness.message)
  const parts: ModelPart[] = []
  for await (const part of readiness.provider.stream(request, { signal: new AbortController().signal }))
    parts.push(part)
  return parts
}

describe('models', () => {
  it('always has the demo, with the configured pace', async () => {
    const demo = createModels({ environment: { DEMO_PACE: '0' } }).find('demo/agent')
    expect((await collect(demo)).at(-1)).toMatchObject({ end: { type: 'complete' } })
  })

  it('explains how to add a key if it is missing or invalid', () => {
    for (const environment of [{}, { ANTHROPIC_API_KEY: ' ' }, { ANTHROPIC_API_KEY: 'schlüssel' }]) {
      expect(createModels({ environment }).find('anthropic/claude-opus-5')).toEqual({
        type: 'no_credentials',
        message: expect.stringContaining('ANTHROPIC_API_KEY'),
      })
    }
  })

  it('finds a key that is added later', () => {
    const environment: { [name: string]: string } = {}
    const models = createModels({ environment })
    expect(models.find('anthropic/claude-opus-5').type).toBe('no_credentials')
    environment['ANTHROPIC_API_KEY'] = 'key'
    expect(models.find('anthropic/claude-opus-5').type).toBe('ready')
  })

  it.each(['', '/', '/v1'])('calls Anthropic at the configured address, ending in %j', async (end) => {
    await using server = await startAnthropicServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const environment = { ANTHROPIC_API_KEY: ' key-1 ', ANTHROPIC_BASE_URL: `${server.url}${end}` }
    const parts = await collect(createModels({ environment }).find('anthropic/claude-sonnet-4-5'))
    expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop' } })
    expect(server.requests).toMatchObject([{ headers: { 'x-api-key': 'key-1' }, body: { model: 'claude-sonnet-4-5' } }])
  })

  it.each(['', '/', '/v1'])('calls OpenAI at the configured address, ending in %j', async (end) => {
    await using responses = await startOpenAiResponsesServer({
      type: 'message',
      content: [{ type: 'message', text: 'hi' }],
    })
    await using chat = await startOpenAiChatServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    for (const [model, server] of [
      ['openai/gpt-5', responses],
      ['openai-chat/gpt-5', chat],
    ] as const) {
      const environment = { OPENAI_API_KEY: ' key-1 ', OPENAI_BASE_URL: `${server.url}${end}` }
      const parts = await collect(createModels({ environment }).find(model))
      expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop' } })
      expect(server.requests).toMatchObject([{ headers: { authorization: 'Bearer key-1' }, body: { model: 'gpt-5' } }])
    }
  })

  it.each([
    ['GOOGLE_GENERATIVE_AI', ''],
    ['GEMINI', '/'],
    ['GEMINI', '/v1beta'],
  ])('calls Google with the variables of %s, at an address ending in %j', async (name, end) => {
    await using server = await startGeminiServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const environment = { [`${name}_API_KEY`]: 'key-1', [`${name}_BASE_URL`]: `${server.url}${end}` }
    const parts = await collect(createModels({ environment }).find('google/gemini-3-flash-preview'))
    expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop' } })
    expect(server.requests).toMatchObject([{ headers: { 'x-goog-api-key': 'key-1' } }])
  })

  it('names the key variable of each service', () => {
    const message = (model: string) => createModels({ environment: {} }).find(model)
    expect(message('openai/gpt-5')).toMatchObject({ message: expect.stringContaining('OPENAI_API_KEY') })
    expect(message('google/gemini')).toMatchObject({ message: expect.stringContaining('GEMINI_API_KEY') })
  })

  it.each([
    ['not an address', 'must begin with http'],
    ['https://me:hush@host.example', 'no user'],
    ['https://host.example/v1?key=hush', 'no query'],
  ])('refuses the address %s and names its variable', async (address, why) => {
    const environment = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: address }
    const models = createModels({ environment })
    const unusable = expect.stringMatching(new RegExp(`^OPENAI_BASE_URL .*${why}`))
    expect(models.find('openai/gpt-5')).toMatchObject({ type: 'no_credentials', message: unusable })
    const list = await models.list()
    expect(list.providers.find(({ provider }) => provider === 'openai')).toMatchObject({ unusable })
    expect(list.models.find(({ model }) => model.startsWith('openai/'))).toMatchObject({ unusable })
    expect(JSON.stringify(list)).not.toContain('hush')
  })

  it('suggests a similar model for an unknown one', () => {
    const models = createModels({ environment: {} })
    expect(models.find('demo/agnt')).toEqual({
      type: 'unknown_model',
      message: expect.stringContaining("There is no model demo/agnt. Did you mean 'demo/agent'?"),
    })
    expect(models.find('antropic/claude-sonnet-5').type).toBe('unknown_model')
    expect(JSON.stringify(models.find('antropic/claude-sonnet-5'))).toContain('anthropic/claude-sonnet-5-5')
  })

  it('accepts custom models', async () => {
    const own: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'own',
      modelId: 'model',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('not used')),
      doStream: () => Promise.reject(new Error('boom')),
    }
    const parts = await collect(createModels({ environment: {}, extra: { 'own/model': own } }).find('own/model'))
    expect(parts).toMatchObject([{ end: { type: 'failed', fault: { message: expect.stringContaining('boom') } } }])
  })

  it('uses the configured default, else the first service with a key, else the demo', () => {
    const defaultOf = (environment: { [name: string]: string }) => createModels({ environment }).defaultModel()
    expect(defaultOf({})).toBe('demo/agent')
    expect(defaultOf({ ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key' })).toMatch(/^anthropic\//)
    expect(defaultOf({ OPENAI_API_KEY: 'key', MISTRAL_API_KEY: 'key' })).toMatch(/^openai\//)
    expect(defaultOf({ GEMINI_API_KEY: 'key' })).toMatch(/^google\//)
    expect(defaultOf({ DEEPSEEK_API_KEY: 'key' })).toMatch(/^deepseek\//)
    expect(defaultOf({ OPENAI_API_KEY: 'schlüssel' })).toBe('demo/agent')
    expect(defaultOf({ LMSTUDIO_API_KEY: 'key' })).toBe('demo/agent')
    const choice = { model: 'groq/some' }
    expect(createModels({ environment: { ANTHROPIC_API_KEY: 'key' }, choice }).defaultModel()).toBe('groq/some')
  })

  it('finds a default by a stored key too', async () => {
    const credentials = {
      find: (service: string) => (service === 'mistral' ? { key: 'key', from: { type: 'file' as const } } : undefined),
      refresh: async () => ({ ok: true as const, value: [] }),
      stored: () => [],
      fileProblem: () => null,
    }
    const models = createModels({ environment: {}, credentials })
    expect(models.defaultModel()).toMatch(/^mistral\//)
    expect((await models.list()).providers.find(({ provider }) => provider === 'mistral')).toMatchObject({
      keyFrom: { type: 'file' },
    })
  })

  it('knows context size and price of a model', async () => {
    await using server = await startAnthropicServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const environment = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url }
    const known = createModels({ environment }).find('anthropic/claude-sonnet-4-5-20250929')
    expect(known).toMatchObject({ contextTokens: 200_000, takes: expect.arrayContaining(['application/pdf']) })
    const end = (await collect(known)).at(-1)
    expect(end).toMatchObject({ end: { usage: { cost: expect.any(Number) } } })
  })

  it('uses the same facts behind another API, unless overridden', () => {
    const environment = { OPENAI_API_KEY: 'key' }
    expect(createModels({ environment }).find('openai-chat/gpt-4o')).toMatchObject({ contextTokens: 128_000 })
    const facts = { 'openai/gpt-4o': { contextTokens: 7 } }
    expect(createModels({ environment, facts }).find('openai-chat/gpt-4o')).toMatchObject({ contextTokens: 7 })
    const other = { ...facts, 'openai-chat/gpt-4o': { contextTokens: 8 } }
    expect(createModels({ environment, facts: other }).find('openai-chat/gpt-4o')).toMatchObject({ contextTokens: 8 })
  })

  it('accepts an unknown model without facts', async () => {
    await using server = await startAnthropicServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const environment = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url }
    const models = createModels({ environment, choice: { model: 'anthropic/claude-next' } })
    const found = models.find('anthropic/claude-next')
    expect(found).toMatchObject({ type: 'ready', contextTokens: undefined, thinkingLevels: undefined })
    expect((await collect(found)).at(-1)).toMatchObject({ end: { type: 'complete', usage: { cost: null } } })
    expect((await models.list()).models.find(({ isDefault }) => isDefault)).toMatchObject({
      model: 'anthropic/claude-next',
      contextTokens: null,
      price: null,
      unusable: null,
    })
  })

  it('prefers refreshed facts to built-in ones, and the config to both', () => {
    const environment = { ANTHROPIC_API_KEY: 'key' }
    const refreshed = {
      all: () => ({
        'anthropic/claude-opus-5-5': { contextTokens: 5, outputTokens: 6, thinkingLevels: ['off' as const] },
      }),
      asOf: () => '2026-12-01',
      read: async () => ({ ok: true as const, value: undefined }),
    }
    const facts = { 'anthropic/claude-opus-5-5': { contextTokens: 7 } }
    const models = createModels({ environment, refreshed, facts })
    expect(models.find('anthropic/claude-opus-5-5')).toMatchObject({ contextTokens: 7, thinkingLevels: ['off'] })
  })

  it('lists usable models, and explains why others are not', async () => {
    const services = resolveServices({ mybox: { baseUrl: 'https://box.example', title: 'My box' } })
    if (!services.ok) throw new Error(services.fault.message)
    const facts = { 'mybox/one': { contextTokens: 9 }, 'gone/two': {} }
    const models = createModels({ environment: { GROQ_API_KEY: 'key' }, services: services.value, facts })
    const listed = await models.list()
    const unusable = (model: string) => listed.models.find((one) => one.model === model)?.unusable
    expect(unusable('demo/agent')).toBeNull()
    expect(unusable('groq/openai/gpt-oss-20b')).toBeNull()
    expect(unusable('mybox/one')).toBeNull()
    expect(unusable('anthropic/claude-opus-5-5')).toContain('ANTHROPIC_API_KEY')
    expect(unusable('gone/two')).toContain('There is no provider gone.')
    expect(listed.models.filter(({ isDefault }) => isDefault).map(({ model }) => model)).toEqual([
      models.defaultModel(),
    ])
    expect(listed.providers.find(({ provider }) => provider === 'groq')).toEqual({
      provider: 'groq',
      title: 'Groq',
      endpoint: 'https://api.groq.com/openai/v1',
      keyFrom: { type: 'variable', name: 'GROQ_API_KEY' },
      unusable: null,
    })
    expect(listed.providers.find(({ provider }) => provider === 'mybox')).toMatchObject({
      title: 'My box',
      keyFrom: null,
    })
    expect(ModelList.safeParse(listed).success).toBe(true)
    expect(JSON.stringify(listed)).not.toContain('"key"')
  })
})
