import { describe, expect, it } from 'vitest'
import { modelText } from './model-text.ts'

describe('the model in the header', () => {
  it('is the one that answers, and the one it stands in for', () => {
    expect(modelText({ model: 'sim/model', fallback: null })).toBe('sim/model')
    expect(modelText({ model: 'sim/model', fallback: 'other/model' })).toBe('other/model in place of sim/model')
  })
})
