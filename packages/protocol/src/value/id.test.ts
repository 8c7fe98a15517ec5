import { afterEach, expect, it, vi } from 'vitest'
import { createCommandId } from './id.ts'

afterEach(() => vi.unstubAllGlobals())

it('makes ids that differ', () => {
  expect(new Set(Array.from({ length: 1000 }, createCommandId)).size).toBe(1000)
})

it('needs nothing that a browser keeps from pages on plain http', () => {
  const { getRandomValues } = crypto
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) })
  expect(createCommandId()).toMatch(/^[0-9a-f]{32}$/)
})
