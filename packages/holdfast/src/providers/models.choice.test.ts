import { describe, expect, it } from 'vitest'
import { createModels } from './models.ts'

const environment = { ANTHROPIC_API_KEY: 'key' }
const claude = 'anthropic/claude-opus-5-5'
const sonnet = 'anthropic/claude-sonnet-5-5'
const gemini = 'google/gemini-3.8-flash'

describe('the rotation', () => {
  it('lists the configured models that can be called now', () => {
    const choice = {
      rotation: [{ model: claude, thinkingLevel: 'high' as const }, { model: gemini }, { model: 'demo/agent' }],
    }
    const keys: { [name: string]: string } = { ...environment }
    const models = createModels({ environment: keys, choice })
    expect(models.rotation()).toEqual([{ model: claude, thinkingLevel: 'high' }, { model: 'demo/agent' }])
    keys['GEMINI_API_KEY'] = 'key'
    expect(models.rotation()).toEqual(choice.rotation)
  })

  it('is empty by default', () => {
    expect(createModels({ environment }).rotation()).toEqual([])
  })
})

describe('the fallbacks', () => {
  const models = createModels({ environment, choice: { fallbacks: [claude, gemini, sonnet, 'demo/agent'] } })

  it('of any other model are the whole chain, without uncallable models', async () => {
    expect(await models.fallback('anthropic/claude-haiku-5-5', [])).toBe(claude)
    expect(await models.fallback('anthropic/claude-haiku-5-5', [claude])).toBe(sonnet)
    expect(await models.fallback('anthropic/claude-haiku-5-5', [claude, sonnet])).toBe('demo/agent')
    expect(await models.fallback('anthropic/claude-haiku-5-5', [claude, sonnet, 'demo/agent'])).toBeNull()
  })

  it('of a model in the chain are those after it', async () => {
    expect(await models.fallback(sonnet, [sonnet])).toBe('demo/agent')
    expect(await models.fallback('demo/agent', ['demo/agent'])).toBeNull()
  })

  it('are empty by default', async () => {
    expect(await createModels({ environment }).fallback(claude, [])).toBeNull()
  })
})
