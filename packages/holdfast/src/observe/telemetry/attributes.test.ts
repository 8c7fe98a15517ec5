import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, it } from 'vitest'
import { finishReasons, modelAttributes, names, usageAttributes } from './attributes.ts'

describe('the names of attributes', () => {
  it('are those of the published conventions', () => {
    const published = new Set<unknown>(Object.values(conventions))
    expect(Object.values(names).filter((name) => !published.has(name))).toEqual([])
  })

  it.each([
    ['anthropic/claude', conventions.GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC, 'claude'],
    ['openai/gpt', conventions.GEN_AI_PROVIDER_NAME_VALUE_OPENAI, 'gpt'],
    ['openai-chat/gpt', conventions.GEN_AI_PROVIDER_NAME_VALUE_OPENAI, 'gpt'],
    ['google/gemini', conventions.GEN_AI_PROVIDER_NAME_VALUE_GCP_GEMINI, 'gemini'],
    ['mistral/large', conventions.GEN_AI_PROVIDER_NAME_VALUE_MISTRAL_AI, 'large'],
    ['groq/llama', conventions.GEN_AI_PROVIDER_NAME_VALUE_GROQ, 'llama'],
    ['deepseek/chat', conventions.GEN_AI_PROVIDER_NAME_VALUE_DEEPSEEK, 'chat'],
    ['openrouter/some/model', 'openrouter', 'some/model'],
  ])('split %s into service and model', (model, provider, name) => {
    expect(modelAttributes(model)).toEqual({
      model: name,
      attributes: { [names.provider]: provider, [names.requestModel]: name },
    })
  })

  it('count cache reads and writes as input', () => {
    expect(usageAttributes({ input: 1, output: 2, cacheRead: 4, cacheWrite: 8, cost: null })).toEqual({
      [names.inputTokens]: 13,
      [names.outputTokens]: 2,
      [names.cacheReadTokens]: 4,
      [names.cacheWriteTokens]: 8,
    })
  })

  it('distinguish an answer that ended in calls from one that was cut', () => {
    expect([finishReasons.calls, finishReasons.length]).toEqual(['tool_call', 'length'])
  })
})
