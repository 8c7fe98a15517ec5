import { ModelFacts, ModelName, providerOf } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { presets } from '../services/presets.ts'
import { builtInFacts, type FactsByModel, ModelCatalogue, mergeFacts } from './catalogue.ts'
import project from './models.json' with { type: 'json' }

describe('the built-in catalogue', () => {
  it('matches its schema and is complete for each model', () => {
    expect(ModelCatalogue.safeParse(project).error).toBeUndefined()
    for (const [model, facts] of Object.entries(builtInFacts)) {
      expect(ModelName.safeParse(model).success, model).toBe(true)
      expect(ModelFacts.safeParse(mergeFacts(model, [builtInFacts])).success, model).toBe(true)
      expect(Object.values(facts), model).not.toContain(null)
      expect(facts.price?.cacheRead, model).toBeLessThanOrEqual(facts.price?.input ?? 0)
      expect(facts.thinkingLevels, model).not.toEqual([])
    }
  })

  it('has models for every hosted service, and no other', () => {
    const named = new Set(Object.keys(builtInFacts).map(providerOf))
    const sold = presets.filter(({ needsKey, sameAs }) => needsKey && sameAs === undefined)
    expect([...named].sort()).toEqual(sold.map(({ name }) => name).sort())
  })

  it('has the default model of each service', () => {
    for (const { name, defaultModel } of presets)
      if (defaultModel !== undefined) expect(builtInFacts, name).toHaveProperty([`${name}/${defaultModel}`])
  })
})

describe('mergeFacts', () => {
  const one = { title: 'One', contextTokens: 100, price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 } }
  const layers: readonly FactsByModel[] = [{ 'a/one': one }, { 'a/one': { contextTokens: 200 } }]

  it('merges field by field, later layers win', () => {
    expect(mergeFacts('a/one', layers)).toMatchObject({
      title: 'One',
      contextTokens: 200,
      price: one.price,
      tools: null,
    })
    expect(mergeFacts('a/one', [...layers, { 'a/one': { price: null } }]).price).toBeNull()
  })

  it.each(['a/one-20260131', 'a/one-2026-01-31', 'a/one@20260131'])('applies to the dated version %s', (model) => {
    expect(mergeFacts(model, layers).contextTokens).toBe(200)
  })

  it('prefers facts of the exact version', () => {
    expect(mergeFacts('a/one-20260131', [...layers, { 'a/one-20260131': { contextTokens: 7 } }]).contextTokens).toBe(7)
  })

  it('returns null, never 0, for an unknown model', () => {
    const nothing = Object.keys(ModelFacts.shape).map((name) => [name, null])
    for (const model of ['a/two', 'a/one-2', 'b/one', 'a/toString', '__proto__'])
      expect(mergeFacts(model, layers), model).toEqual(Object.fromEntries(nothing))
  })

  it('uses the input price for missing cache prices', () => {
    const [facts] = [mergeFacts('a/b', [{ 'a/b': { price: { input: 3, output: 9 } } }])]
    expect(facts.price).toEqual({ input: 3, output: 9, cacheRead: 3, cacheWrite: 3 })
  })
})
