import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { ThinkingLevel } from '@holdfast/protocol'
import { aRequest } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { type AiSdkModel, findNearestLevel, type KnownModelFacts } from './open-stream.ts'
import { createAiSdkProvider } from './provider.ts'
import { collectFailure, startFixedServer } from './testing/http-server.ts'

type Body = { readonly [key: string]: unknown }

/** Returns the request body of a model; the answer does not matter. */
async function bodyOf(
  model: (baseURL: string) => AiSdkModel,
  thinkingLevel: ThinkingLevel,
  known: KnownModelFacts = {},
): Promise<Body> {
  await using server = await startFixedServer(500, '')
  const provider = createAiSdkProvider(model(server.url), { title: 'Service', ...known })
  await collectFailure(provider, aRequest({ thinkingLevel }))
  return JSON.parse(server.bodies[0] ?? 'null')
}

const anthropic = (id: string) => (baseURL: string) => createAnthropic({ apiKey: 'key', baseURL })(id)
const chat = (id: string) => (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL }).chat(id)
const responses = (id: string) => (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL }).responses(id)
const google = (id: string) => (baseURL: string) => createGoogle({ apiKey: 'key', baseURL })(id)

describe('a thinking level', () => {
  it.each<readonly [ThinkingLevel, object]>([
    ['off', { type: 'disabled' }],
    ['low', { type: 'enabled', budget_tokens: 6_400 }],
    ['medium', { type: 'enabled', budget_tokens: 19_200 }],
    ['high', { type: 'enabled', budget_tokens: 38_400 }],
  ])('%s is a budget for older Anthropic models', async (level, thinking) => {
    expect(await bodyOf(anthropic('claude-sonnet-4-5'), level)).toMatchObject({ thinking })
  })

  it.each<readonly [ThinkingLevel, object]>([
    ['off', { thinking: { type: 'disabled' } }],
    ['low', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ])('%s is an effort for newer Anthropic models', async (level, asked) => {
    const body = await bodyOf(anthropic('claude-opus-4-8'), level)
    expect(body).toMatchObject(asked)
    if (level === 'off') expect(body).not.toHaveProperty('output_config')
  })

  it.each<readonly [ThinkingLevel, string]>([
    ['off', 'none'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
  ])('%s is the effort %s for OpenAI', async (level, effort) => {
    expect(await bodyOf(responses('gpt-5.2'), level)).toMatchObject({ reasoning: { effort } })
    expect(await bodyOf(chat('gpt-5.2'), level)).toMatchObject({ reasoning_effort: effort })
  })

  it.each<readonly [ThinkingLevel, object]>([
    ['off', { thinkingBudget: 0 }],
    ['low', { includeThoughts: true, thinkingBudget: expect.any(Number) }],
    ['high', { includeThoughts: true, thinkingBudget: expect.any(Number) }],
  ])('%s is a budget for older Google models', async (level, thinkingConfig) => {
    const body = await bodyOf(google('gemini-2.5-flash'), level)
    expect(body['generationConfig']).toEqual({ thinkingConfig })
  })

  it.each<readonly [ThinkingLevel, object]>([
    ['low', { includeThoughts: true, thinkingLevel: 'low' }],
    ['high', { includeThoughts: true, thinkingLevel: 'high' }],
  ])('%s is a level for newer Google models', async (level, thinkingConfig) => {
    const body = await bodyOf(google('gemini-3-pro-preview'), level)
    expect(body['generationConfig']).toEqual({ thinkingConfig })
  })

  it.each<readonly [string, (baseURL: string) => AiSdkModel, KnownModelFacts]>([
    ['by its name', chat('gpt-4.1'), {}],
    ['by its name', chat('gpt-5-chat-latest'), {}],
    ['by its name', chat('llama-3'), {}],
    ['by its name', responses('gpt-4.1'), {}],
    ['by its name', google('gemini-2.0-flash'), {}],
    ['by its name', google('gemma-3-27b-it'), {}],
    ['by what is known', anthropic('claude-3-haiku-20240307'), { thinkingLevels: ['off'] }],
    ['by what is known', google('gemini-3-pro-preview'), { thinkingLevels: [] }],
    ['by what is known', chat('gpt-5'), { thinkingLevels: ['off'] }],
  ])('is not sent to a model that does not think, %s', async (_how, model, known) => {
    for (const level of ['off', 'high'] as const) {
      const body = await bodyOf(model, level, known)
      for (const word of ['thinking', 'reasoning', 'reasoning_effort', 'output_config', 'include'])
        expect(body).not.toHaveProperty(word)
      expect(body['generationConfig'] ?? {}).toEqual({})
    }
  })

  it('is replaced by the nearest level of the model, preferably lower', () => {
    expect(findNearestLevel('high', ['off', 'low', 'medium'])).toBe('medium')
    expect(findNearestLevel('low', ['off', 'high'])).toBe('high')
    expect(findNearestLevel('off', ['low', 'high'])).toBe('low')
    expect(findNearestLevel('medium', ['off', 'low', 'medium'])).toBe('medium')
    expect(findNearestLevel('high', ['off'])).toBeNull()
    expect(findNearestLevel('off', [])).toBeNull()
  })
})

describe('the output limit', () => {
  it('is that of the model, including thinking, if the service requires one', async () => {
    const sent = (id: string, level: ThinkingLevel, outputTokens: number) =>
      bodyOf(anthropic(id), level, { outputTokens })
    const thinking = { type: 'enabled', budget_tokens: 12_000 }
    for (const id of ['claude-sonnet-4-5', 'claude-opus-4-20250514', 'some-other-model']) {
      expect(await sent(id, 'off', 20_000)).toMatchObject({ max_tokens: 20_000, thinking: { type: 'disabled' } })
      expect(await sent(id, 'high', 20_000)).toMatchObject({ max_tokens: 20_000, thinking })
      expect(await sent(id, 'high', 1_500)).toMatchObject({ max_tokens: 1_500, thinking: { type: 'disabled' } })
    }
    expect(await sent('claude-opus-4-8', 'high', 20_000)).toMatchObject({
      max_tokens: 20_000,
      thinking: { type: 'adaptive' },
    })
  })

  it('is not sent to services that do not require it', async () => {
    const known = { outputTokens: 20_000 }
    const sent = [
      await bodyOf(chat('gpt-5'), 'off', known),
      await bodyOf(responses('gpt-5'), 'off', known),
      await bodyOf(google('gemini-2.5-flash'), 'off', known),
    ]
    expect(JSON.stringify(sent)).not.toContain('20000')
  })
})
