import { describe, expect, it } from 'vitest'
import { createModels } from './models.ts'

const environment = { ANTHROPIC_API_KEY: 'key' }
const claude = 'anthropic/claude-opus-5-5'
const sonnet = 'anthropic/claude-sonnet-5-5'
const gemini = 'google/gemini-3.8-flash'

describe('the rotation', () => {
  it('is what was configured, less what cannot be called now', () => {
    const choice = {
      rotation: [{ model: claude, thinkingLevel: 'high' as const }, { model: gemini }, { model: 'demo/agent' }],
    }
    const keys: { [name: string]: string } = { ...environment }
    const models = createModels({ environment: keys, choice })
    expect(models.rotation()).toEqual([{ model: claude, thinkingLevel: 'high' }, { model: 'demo/agent' }])
    keys['GEMINI_API_KEY'] = 'key'
    expect(models.rotation()).toEqual(choice.rotation)
  })

  it('is empty where nobody configured one', () => {
    expect(createModels({ environment }).rotation()).toEqual([])
  })
})

describe('the fallbacks', () => {
  const models = createModels({ environment, choice: { fallbacks: [claude, gemini, sonnet, 'demo/agent'] } })

  it('follow a model that is none of them from the first on, past what cannot be called', async () => {
    expect(await models.fallback('anthropic/claude-haiku-5-5', [])).toBe(claude)
    expect(await models.fallback('anthropic/claude-haiku-5-5', [claude])).toBe(sonnet)
    expect(await models.fallback('anthropic/claude-haiku-5-5', [claude, sonnet])).toBe('demo/agent')
    expect(await models.fallback('anthropic/claude-haiku-5-5', [claude, sonnet, 'demo/agent'])).toBeNull()
  })

  it('of one of them are those behind it', async () => {
    expect(await models.fallback(sonnet, [sonnet])).toBe('demo/agent')
    expect(await models.fallback('demo/agent', ['demo/agent'])).toBeNull()
  })

  it('are none where nobody configured any', async () => {
    expect(await createModels({ environment }).fallback(claude, [])).toBeNull()
  })
})
