import { describe, expect, it } from 'vitest'
import { contextHint, contextShort, contextSpoken } from './context-text.ts'

const counted = { tokens: 3200, contextTokens: 32_000, share: 0.1, isEstimate: false }

describe('how full the context is', () => {
  it('is told against what the model takes', () => {
    expect([contextShort(counted), contextSpoken(counted)]).toEqual(['3.2k / 32k', '3.2k of 32k tokens'])
    expect(contextHint(counted)).toBe('The model is told 3.2k of 32k tokens. Beyond 80 % the past is summed up.')
  })

  it('says what is a guess', () => {
    const guessed = { ...counted, isEstimate: true, contextTokens: null }
    expect([contextShort(guessed), contextSpoken(guessed)]).toEqual(['3.2k / 200k?', 'about 3.2k of 200k tokens'])
    expect(contextHint(guessed)).toContain('Nobody knows how much this model takes')
  })
})
