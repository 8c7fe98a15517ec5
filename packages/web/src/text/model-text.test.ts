import { describe, expect, it } from 'vitest'
import { modelText } from './model-text.ts'

describe('the model in the header', () => {
  it('shows the model, and its fallback while one is used', () => {
    expect(modelText({ model: 'sim/model', fallback: null })).toBe('sim/model')
    expect(modelText({ model: 'sim/model', fallback: 'other/model' })).toBe('other/model instead of sim/model')
  })
})
