import { describe, expect, it } from 'vitest'
import { isDeeperThan } from './json-depth.ts'

describe('json depth', () => {
  it('counts nesting, not length', () => {
    expect(isDeeperThan('[[]]', 2)).toBe(false)
    expect(isDeeperThan('[[[]]]', 2)).toBe(true)
    expect(isDeeperThan('[[],[],[],{"a":[]}]', 3)).toBe(false)
  })

  it('takes brackets in strings for what they are', () => {
    expect(isDeeperThan('["[[[[", "\\"[[["]', 1)).toBe(false)
    expect(isDeeperThan('["\\\\", [[]]]', 2)).toBe(true)
  })
})
