import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelPart, ModelReadiness } from '@holdfast/core/ports'
import {
  aRequest,
  startAnthropicServer,
  startGeminiServer,
  startOpenAiChatServer,
  startOpenAiResponsesServer,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createModels, defaultModel } from './models.ts'

async function collect(readiness: ModelReadiness, request = aRequest()) {
  if (readiness.type !== 'ready') throw new Error(readiness.message)
  const parts: ModelPart[] = []
  for await (const part of readiness.provider.stream(request, { signal: new AbortController().signal }))
    parts.push(part)
  return parts
}

describe('models', () => {
  it('always has the demo, at the pace it is given', async () => {
    const demo = createModels({ environment: { DEMO_PACE: '0' } }).find('demo/agent')
    expect((await collect(demo)).at(-1)).toMatchObject({ end: { type: 'complete' } })
  })

  it('asks for a key, and says how to add it, when there is none or it cannot be one', () => {
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

  it.each(['', '/', '/v1'])('reaches Anthropic at the address it is given, with %j at its end', async (end) => {
    await using server = await startAnthropicServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const environment = { ANTHROPIC_API_KEY: ' key-1 ', ANTHROPIC_BASE_URL: `${server.url}${end}` }
    const parts = await collect(createModels({ environment }).find('anthropic/claude-sonnet-4-5'))
    expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop' } })
    expect(server.requests).toMatchObject([{ headers: { 'x-api-key': 'key-1' }, body: { model: 'claude-sonnet-4-5' } }])
  })

  it.each(['', '/', '/v1'])('reaches OpenAI at the address it is given, with %j at its end', async (end) => {
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
  ])('reaches Google by the names of %s, with %j at the end of its address', async (name, end) => {
    await using server = await startGeminiServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const environment = { [`${name}_API_KEY`]: 'key-1', [`${name}_BASE_URL`]: `${server.url}${end}` }
    const parts = await collect(createModels({ environment }).find('google/gemini-3-flash-preview'))
    expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop' } })
    expect(server.requests).toMatchObject([{ headers: { 'x-goog-api-key': 'key-1' } }])
  })

  it('asks for a key of each service by the name it goes by', () => {
    const message = (model: string) => createModels({ environment: {} }).find(model)
    expect(message('openai/gpt-5')).toMatchObject({ message: expect.stringContaining('OPENAI_API_KEY') })
    expect(message('google/gemini')).toMatchObject({ message: expect.stringContaining('GEMINI_API_KEY') })
  })

  it('ends as failed when the address is none', async () => {
    const environment = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'not an address' }
    const parts = await collect(createModels({ environment }).find('anthropic/claude-sonnet-4-5'))
    expect(parts).toMatchObject([{ end: { type: 'failed' } }])
  })

  it('names the nearest model it has for one it has not', () => {
    const models = createModels({ environment: {} })
    expect(models.find('demo/agnt')).toEqual({
      type: 'unknown_model',
      message: expect.stringContaining("There is no model demo/agnt. Did you mean 'demo/agent'?"),
    })
    expect(models.find('antropic/claude-sonnet-5').type).toBe('unknown_model')
    expect(JSON.stringify(models.find('antropic/claude-sonnet-5'))).toContain('anthropic/claude-sonnet-5-5')
  })

  it('takes any model a program brings', async () => {
    const own: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'own',
      modelId: 'model',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('not used')),
      doStream: () => Promise.reject(new Error('boom')),
    }
    const parts = await collect(createModels({ environment: {}, extra: { 'own/model': own } }).find('own/model'))
    expect(parts).toMatchObject([
      { end: { type: 'failed', fault: { message: expect.stringContaining('Own could not answer: boom.') } } },
    ])
  })

  it('falls back on the demo when there is no key', () => {
    expect(defaultModel({})).toBe('demo/agent')
    expect(defaultModel({ ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key' })).toMatch(/^anthropic\//)
    expect(defaultModel({ OPENAI_API_KEY: 'key' })).toMatch(/^openai\//)
    expect(defaultModel({ GEMINI_API_KEY: 'key' })).toMatch(/^google\//)
  })
})
