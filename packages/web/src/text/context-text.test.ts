import { describe, expect, it } from 'vitest'
import { contextHint, contextShort, contextSpoken } from './context-text.ts'

const counted = { tokens: 3200, contextTokens: 32_000, share: 0.1, isEstimate: false }

describe('context usage', () => {
  it('is shown relative to the limit of the model', () => {
    expect([contextShort(counted), contextSpoken(counted)]).toEqual(['3.2k / 32k', '3.2k of 32k tokens'])
    expect(contextHint(counted)).toBe('The context holds 3.2k of 32k tokens. Above 80 % old messages are summarized.')
  })

  it('marks an estimate and an assumed limit', () => {
    const guessed = { ...counted, isEstimate: true, contextTokens: null }
    expect([contextShort(guessed), contextSpoken(guessed)]).toEqual(['3.2k / 200k?', 'about 3.2k of 200k tokens'])
    expect(contextHint(guessed)).toContain('The limit of this model is not known')
  })
})
