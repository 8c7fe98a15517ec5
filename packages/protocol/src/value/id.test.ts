import { afterEach, expect, it, vi } from 'vitest'
import { createCommandId } from './id.ts'

afterEach(() => vi.unstubAllGlobals())

it('creates unique command ids', () => {
  expect(new Set(Array.from({ length: 1000 }, createCommandId)).size).toBe(1000)
})

it('creates command ids on plain http pages, where browsers offer no randomUUID', () => {
  const { getRandomValues } = crypto
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) })
  expect(createCommandId()).toMatch(/^[0-9a-f]{32}$/)
})
