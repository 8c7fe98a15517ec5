import { type ListedModel, ModelList } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { abilitiesText, groupModels, levelsOf, priceText, searchedText } from './model-text.ts'

const model = (name: string, more: Partial<ListedModel> = {}): ListedModel => ({
  model: name,
  title: null,
  contextTokens: null,
  outputTokens: null,
  price: null,
  takes: null,
  tools: null,
  thinkingLevels: null,
  unusable: null,
  ...more,
})
const provider = (name: string, more: object = {}) => ({
  provider: name,
  title: name.toUpperCase(),
  endpoint: null,
  keyFrom: null,
  unusable: null,
  ...more,
})

describe('the text of a model', () => {
  it('never shows an unknown price as zero', () => {
    expect(priceText(null)).toBe('price unknown')
    expect(priceText({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe('free')
    expect(priceText({ input: 0.25, output: 15, cacheRead: 0, cacheWrite: 0 })).toBe('$0.25 in, $15 out per 1M tokens')
  })

  it('names the context and what it takes once', () => {
    const facts = { contextTokens: 200_000, takes: ['image/png', 'image/jpeg', 'application/pdf'], tools: false }
    expect(abilitiesText(model('a/b', { ...facts, thinkingLevels: ['off', 'high'] }))).toBe(
      '200k context · images · PDF · no tools · thinking',
    )
    expect(abilitiesText(model('a/b', { thinkingLevels: ['off'] }))).toBe('')
  })
})

describe('the models of the picker', () => {
  const list = ModelList.parse({
    models: [
      model('far/one', { unusable: 'There is no key for FAR.', title: 'One' }),
      model('near/two', { thinkingLevels: ['off', 'low'], isDefault: true }),
      model('away/three', { unusable: 'No AWAY answers.' }),
    ],
    providers: [
      provider('far', { unusable: 'There is no key for FAR.', needsKey: true }),
      provider('near'),
      provider('away', { unusable: 'No AWAY answers.' }),
    ],
  })

  it('come with those that can be called first, and say which ones need a key', () => {
    const groups = groupModels(list)
    expect(groups.map(({ label }) => label)).toEqual([
      'NEAR',
      'FAR: needs a key. Choose a model to add it.',
      'AWAY: cannot be used now',
    ])
    expect(groups.map(({ items }) => items[0]?.needsKeyOf)).toEqual([null, 'far', null])
  })

  it('are found by name, title and provider', () => {
    const far = groupModels(list)[1]?.items[0]
    expect(far && searchedText(far)).toBe('far/one One FAR')
  })

  it('offer the thinking levels of the chosen or the default model', () => {
    expect([levelsOf(list, null), levelsOf(list, 'far/one'), levelsOf(null, null)]).toEqual([
      ['off', 'low'],
      ['off', 'low', 'medium', 'high'],
      ['off', 'low', 'medium', 'high'],
    ])
  })
})
